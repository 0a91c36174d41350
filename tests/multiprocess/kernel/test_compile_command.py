"""What `baton compile` says and does."""

import os
import pty
import re
import subprocess

import pytest

from conftest import LIMIT


def test_help_shows_examples(kernels):
    code, out, _ = kernels.run("--help")
    assert code == 0
    for words in ("--core", "--print-path", "--list", "--jobs", "--cache-info", "--clear-cache", "baton compile scale.cpp"):
        assert words in out


def test_many_are_compiled_and_copied(kernels):
    sources = [kernels.kernel(f"k{i}.cpp", i) for i in range(3)]
    place = kernels.folder / "out"
    code, out, err = kernels.run(*sources, "-o", str(place), "-j", "2")
    assert code == 0, err
    assert sorted(os.listdir(place)) == ["k0.so", "k1.so", "k2.so"]
    assert out.splitlines() == [f"{source} -> {place}/k{i}.so" for i, source in enumerate(sources)]
    assert len(re.findall(r"^\[\d/3\] .*: compiled in [\d.]+ m?s$", err, re.MULTILINE)) == 3
    code, _, err = kernels.run(*sources, "-o", str(place))
    assert err.count("from the cache") == 3
    assert kernels.compilations() == 3


def test_libraries_to_take_elsewhere_are_not_those_for_this_processor(kernels):
    source = kernels.kernel("k.cpp", 1)
    for place, compilations in (("out", 1), (None, 2), ("out", 2), (None, 2)):
        code, _, err = kernels.run(source, *(["-o", str(kernels.folder / place)] if place else []))
        assert (code, kernels.compilations()) == (0, compilations), err


def test_a_place_that_is_full_is_told(kernels):
    place = kernels.folder / "out"
    place.mkdir()
    full = ["unshare", "--map-root-user", "--mount", "sh", "-c", f'mount -t tmpfs -o size=4k none {place} && exec "$@"', "sh"]
    if subprocess.run([*full, "true"], capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    done = subprocess.run([*full, os.environ["BATON_TEST_CLI"], "compile", kernels.kernel(), "-o", place],
                          env=kernels.environment, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 1
    assert f"writing {place}/k.so.part: No space left on device" in done.stderr and "BATON-E013" in done.stderr


def test_paths_come_in_the_order_of_the_sources(kernels):
    sources = [kernels.kernel(f"k{i}.cpp", i) for i in range(3)]
    code, out, _ = kernels.run("--print-path", *reversed(sources))
    assert code == 0
    assert [os.path.basename(line).split("-")[0] for line in out.splitlines()] == ["k2", "k1", "k0"]


def test_all_errors_are_listed(kernels):
    bad = [kernels.write(f"bad{i}.cpp", "\n" * i + f"int x = oops{i};\n") for i in range(2)]
    code, out, err = kernels.run(bad[0], kernels.kernel(), bad[1])
    assert code == 1
    assert f"{bad[0]}:1:" in err and "oops0" in err
    assert f"{bad[1]}:2:" in err and "oops1" in err
    assert "baton: 2 of 3 failed" in err


def test_a_source_without_a_kernel_is_an_error(kernels):
    code, _, err = kernels.run(kernels.write("k.cpp", "void kernel_entry(int64_t*) {}\n"))
    assert code == 1
    assert 'extern "C"' in err


def test_core_defines_folders_and_flags_reach_the_compiler(kernels):
    (kernels.folder / "headers").mkdir()
    kernels.write("headers/h.hpp", "#define H 1\n")
    source = kernels.write("k.cpp", "#include <h.hpp>\n#if !defined(__DAV_CUBE__) || A != 3 || B != 4\n#error no\n#endif\n"
                                    'extern "C" void kernel_entry(int64_t*) {}\n')
    code, _, err = kernels.run("--core", "cube", "-I", str(kernels.folder / "headers"), "-D", "A=3", source,
                               "--", "-DB=4")
    assert code == 0, err


TYPED = """#include <typed/kernel.hpp>
BATON_KERNEL(scale, In<float> x, Out<float, 2> y, float factor) { y.data()[0] = x.data()[0] * factor; }
"""


def test_kernels_are_listed_with_what_they_take(kernels):
    typed = kernels.write("typed.cpp", TYPED)
    code, out, err = kernels.run("--list", typed, kernels.kernel())
    assert code == 0, err
    assert out.splitlines() == [
        typed, f"  scale(In<float> x, Out<float, 2> y, float factor)  [vector core, {typed}:2]",
        str(kernels.folder / "k.cpp"), "  kernel_entry(int64_t* args)"]
    place = kernels.folder / "out"
    assert kernels.run("--core", "cube", typed, "-o", str(place))[0] == 0
    before = kernels.compilations()
    code, out, err = kernels.run("--list", str(place / "typed.so"))
    assert code == 0, err
    assert "scale(In<float> x, Out<float, 2> y, float factor)  [cube core" in out
    assert kernels.compilations() == before


def test_the_cache_is_shown_and_cleared(kernels):
    assert kernels.run(kernels.kernel())[0] == 0
    code, out, _ = kernels.run("--cache-info")
    assert code == 0
    assert str(kernels.cache) in out and re.search(r"kernels +1\n", out) and "of 1.0 GiB" in out
    code, out, _ = kernels.run("--clear-cache")
    assert code == 0 and "removed 1 kernels" in out
    assert re.search(r"kernels +0\n", kernels.run("--cache-info")[1])


@pytest.mark.parametrize("arguments, words", [
    ([], "no SOURCE is named"),
    (["--core", "round", "k.cpp"], "--core"),
    (["-j", "0", "k.cpp"], "--jobs"),
    (["a/k.cpp", "b/k.cpp", "-o", "out"], "would both become out/k.so"),
    (["--clear-cache", "k.cpp"], "without sources"),
    (["--bogus"], "--bogus"),
])
def test_usage_errors(kernels, arguments, words):
    code, _, err = kernels.run(*arguments, cwd=kernels.folder)
    assert code == 2
    assert words in err


def test_a_terminal_has_one_line_that_changes(kernels):
    controller, terminal = pty.openpty()
    sources = [kernels.kernel(f"k{i}.cpp", i) for i in range(2)]
    process = subprocess.Popen([os.environ["BATON_TEST_CLI"], "compile", *sources], env=kernels.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(controller, 4096)
        except OSError:  # all writers are gone
            break
        shown += part
    os.close(controller)
    assert process.wait(LIMIT) == 0
    assert b"\r[0/2]" in shown and b"\r[2/2]  2 compiled" in shown
    assert shown.count(b"\n") == 1


def test_orchestrations_are_recognised_by_what_they_include(kernels):
    # Nothing in the source itself says what it is; an aggregate with a deleted constructor is one in C++17 only.
    kernels.write("mine.h", '#include "pto_orchestration_api.h"\n')
    source = kernels.write("layer.cpp", '#include "mine.h"\n'
                                        "struct Pair { Pair() = delete; int a, b; };\n"
                                        'extern "C" void layer(const ChipTaskArgs& args) {\n'
                                        "  Pair pair{1, 2};\n"
                                        '  LOG_INFO("%d %u", pair.a, args.tensor_count());\n}\n')
    code, out, err = kernels.run("--orchestration", "--list", source)
    assert code == 0, err
    assert "layer" in out
    code, _, err = kernels.run(source)
    assert code == 1 and "layer.cpp:4:" in err


def test_a_function_that_an_orchestration_lacks_is_an_error_with_its_place(kernels):
    source = kernels.write("layer.cpp", '#include "pto_orchestration_api.h"\nvoid elsewhere();\n'
                                        'extern "C" void layer(const ChipTaskArgs&) { elsewhere(); }\n')
    code, _, err = kernels.run("--orchestration", source)
    assert code == 1 and "elsewhere" in err
