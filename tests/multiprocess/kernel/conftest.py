"""Runs `baton compile` as people do, with a cache of its own and a compiler that counts. BATON_TEST_CLI says where it is."""

import os
import pathlib
import stat
import subprocess

import pytest

# Far beyond what anything here takes, even sanitized and on a busy machine: reaching it means that something hangs.
LIMIT = 120


class Kernels:
    """A folder with sources, a cache, and a script that stands for the compiler."""

    def __init__(self, folder):
        self.folder = folder
        self.cache = folder / "cache"
        self.count_file = folder / "count"
        self.script = folder / "compiler"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        self.environment.update(BATON_CACHE_DIR=str(self.cache), BATON_CXX=str(self.script))
        self.make_compiler("")

    def make_compiler(self, before):
        """The script notes each compilation, runs `before`, and calls the system's compiler."""
        self.script.write_text("#!/bin/sh\n"
                               "case \"$*\" in *--version) exec c++ --version;; esac\n"
                               f"echo compiled >> {self.count_file}\n{before}\nexec c++ \"$@\"\n")
        self.script.chmod(stat.S_IRWXU)

    def compilations(self):
        return len(self.count_file.read_text().splitlines()) if self.count_file.exists() else 0

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def kernel(self, name="k.cpp", value=1):
        return self.write(name, f'extern "C" void kernel_entry(int64_t* args) {{ args[0] = {value}; }}\n')

    def start(self, *arguments, **options):
        environment = {**self.environment, **options.pop("env", {})}
        return subprocess.Popen([os.environ["BATON_TEST_CLI"], "compile", *arguments], env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run(self, *arguments, **options):
        """The exit code, standard output and standard error."""
        process = self.start(*arguments, **options)
        try:
            out, err = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
        return process.returncode, out, err


@pytest.fixture
def kernels(tmp_path):
    return Kernels(pathlib.Path(tmp_path))
