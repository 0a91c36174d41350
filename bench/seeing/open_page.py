"""Prints how long a browser takes from the start of a page until it is drawn: open_page.py PROGRAM RANKS EVENTS"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def main(program, ranks, events):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("there is no Chromium; apt-get install chromium brings it")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        subprocess.run([program, "--operation", "page", "--ranks", ranks, "--tasks", events, "--pattern", page,
                        "--limit-s", "300"], check=True, stdout=subprocess.DEVNULL)
        drawn = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                                "--timeout=120000", "--dump-dom", page.as_uri()], capture_output=True, text=True)
    # Set by the last statement of the page: milliseconds since its start.
    ready = re.search(r'data-ready="(\d+)"', drawn.stdout[:2000])
    if ready is None:
        sys.exit("the page was not drawn: " + drawn.stderr[-500:])
    print(json.dumps({"median_ns": int(ready[1]) * 1e6, "count": 1}))


if __name__ == "__main__":
    main(*sys.argv[1:])
