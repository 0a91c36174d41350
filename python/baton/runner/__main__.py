import sys

from baton.runner.command import main

sys.exit(main())
