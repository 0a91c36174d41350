"""Scene tests: a class that names kernels, an orchestration and cases, and compares what chips do with a golden."""
