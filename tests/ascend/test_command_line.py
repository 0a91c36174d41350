"""`baton doctor` and `baton compile` for Ascend chips, with and without the stand-in for the vendor's libraries and compiler.

BATON_TEST_CLI is the command, STANDIN_FOLDER has bin and lib of the stand-in, STANDIN_INCLUDE Baton's headers."""

import os
import pathlib
import re
import subprocess

import pytest

STANDIN = pathlib.Path(os.environ["STANDIN_FOLDER"])
RAW = """#include "tensor.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) { args[0] = VALUE; }
"""


def run(*words, lib=None, bin=None, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")} | more
    if lib:
        environment["LD_LIBRARY_PATH"] = f"{lib}:" + environment.get("LD_LIBRARY_PATH", "")
    if bin:
        environment["PATH"] = f"{bin}:" + environment["PATH"]
    result = subprocess.run([os.environ["BATON_TEST_CLI"], *words], env=environment, capture_output=True, text=True, timeout=100)
    return result.returncode, result.stdout + result.stderr


def test_doctor_names_libraries_that_are_missing():
    code, said = run("doctor", "-p", "a2a3")
    assert code == 1
    for part in ("there is no runtime of Ascend chips", "libacl_rt.so", "libascendcl.so", "set_env.sh", "there is no ccec on the PATH"):
        assert part in said
    assert "unknown" not in run("doctor")[1]


def test_doctor_finds_a_chip_and_the_compiler():
    code, said = run("doctor", "-p", "a2a3", lib=STANDIN / "lib", bin=STANDIN / "bin")
    assert code == 0
    assert "platform a2a3 runs kernels on it, 4 clusters of cores" in said and f"{STANDIN}/bin/ccec" in said


def test_doctor_takes_the_runtime_by_its_older_name(tmp_path):
    (tmp_path / "libascendcl.so").symlink_to(STANDIN / "lib/libacl_rt.so")
    assert run("doctor", "-p", "a2a3", lib=tmp_path)[0] == 0


def test_doctor_names_all_functions_that_a_library_lacks(tmp_path):
    source = tmp_path / "older.cpp"
    source.write_text('extern "C" int aclInit(const char*) { return 0; }')
    subprocess.run(["c++", "-shared", "-fPIC", source, "-o", tmp_path / "libacl_rt.so"], check=True)
    code, said = run("doctor", "-p", "a5", lib=tmp_path)
    assert code == 1 and "does not fit: libacl_rt.so has no aclFinalize, aclrtSetDevice, " in said and "CANN 9" in said
    assert f"what was loaded is {tmp_path}/libacl_rt.so" in said and "aclGetRecentErrMsg" in said
    assert "aclInit" not in said


def test_doctor_names_a_version_that_does_not_fit():
    code, said = run("doctor", "-p", "a2a3", lib=STANDIN / "lib", STANDIN_VERSION="2")
    assert code == 1
    assert "does not fit: libacl_rt.so has version 2.17.0 of the interface, and 1 is wanted" in said and f"{STANDIN}/lib/libacl_rt.so" in said
    code, said = run("doctor", "-p", "a2a3", lib=STANDIN / "lib", STANDIN_FAIL="aclrtGetVersion:1=107000")
    assert code == 1 and "aclrtGetVersion: 107000 (parameter): aclrtGetVersion fails because a test wants it" in said


def test_doctor_says_why_a_library_cannot_be_loaded(tmp_path):
    (tmp_path / "libacl_rt.so").write_text("no library")
    code, said = run("doctor", "-p", "a2a3", lib=tmp_path)
    assert code == 1 and f"{tmp_path}/libacl_rt.so: " in said and "too short" in said
    assert "try:" not in said  # it would be this very command


def test_doctor_looks_for_the_communication_library(tmp_path):
    (tmp_path / "libacl_rt.so").symlink_to(STANDIN / "lib/libacl_rt.so")
    code, said = run("doctor", "-p", "a2a3", lib=tmp_path)
    assert "platform a2a3 runs kernels on it" in said
    assert "there is no communication library of Ascend chips: libhcomm.so cannot be loaded" in said and "libhccl.so" in said
    subprocess.run(["c++", "-shared", "-x", "c++", "/dev/null", "-o", tmp_path / "libhccl.so"], check=True)
    code, said = run("doctor", "-p", "a2a3", lib=tmp_path)
    assert "libhccl.so has no HcclGetRootInfo, HcclCommInitRootInfo, HcclCommDestroy" in said
    assert "chips of platform a2a3 can have windows together" in run("doctor", "-p", "a2a3", lib=STANDIN / "lib")[1]


def test_doctor_tells_of_a_driver_without_chips():
    code, said = run("doctor", "-p", "a2a3", lib=STANDIN / "lib", STANDIN_DEVICES="0")
    assert code == 1 and "there is no Ascend chip 0: this machine shows 0" in said


def test_the_page_lists_every_function_that_is_loaded_by_its_chapter():
    root = pathlib.Path(__file__).resolve().parents[2]
    page = (root / "docs/how-to/run-on-ascend.md").read_text()
    platform = root / "src/platform/ascend"
    loaded = {(chapter, name) for chapter, name in re.findall(r'X\("([\d-]+)", (\w+),', (platform / "cann.hpp").read_text())}
    more = set(re.findall(r'library_\.find\w*\(\w+, "(\w+)"\)', (platform / "cann.cpp").read_text()))
    communication = set(re.findall(r"X\((Hccl\w+),", (platform / "hccl.hpp").read_text()))
    listed = {(row[1], name) for row in re.findall(r"^(\| ([\d-]+) \|.*)$", page, re.M) for name in re.findall(r"`(\w+)`", row[0])}
    assert len(loaded) > 40 and more == {"aclrtGetSocName", "aclGetRecentErrMsg", "aclrtGetVersion"} and len(communication) == 3
    assert {name for _, name in listed} == {name for _, name in loaded} | more
    assert loaded <= listed
    assert communication == set(re.findall(r"`(Hccl\w+)`", page))


def test_doctor_tells_generations_apart():
    code, said = run("doctor", "-p", "a5", lib=STANDIN / "lib")
    assert code == 1 and "(StandIn910) has architecture 2201; platform a5 is for 3510" in said
    assert run("doctor", "-p", "a5", lib=STANDIN / "lib", STANDIN_ARCHITECTURE="3510")[0] == 0


def test_doctor_has_the_number_and_the_text_of_a_failure():
    code, said = run("doctor", "-p", "a2a3", lib=STANDIN / "lib", STANDIN_FAIL="aclrtCreateStream:2=207008")
    assert code == 1 and "aclrtCreateStream: 207008 (no more streams): aclrtCreateStream fails because a test wants it" in said


def test_doctor_knows_which_platforms_there_are():
    code, said = run("doctor", "-p", "a2a3sim")
    assert code != 0 and "there are cuda, a2a3, a5" in said


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "k.cpp"
    path.write_text(RAW.replace("VALUE", "1"))
    return path


@pytest.mark.parametrize("platform,core", [("a2a3", "vector"), ("a2a3", "cube"), ("a5", "vector"), ("a5", "cube")])
def test_compile_embeds_what_the_compiler_makes(kernel, tmp_path, platform, core):
    words = ("compile", "--platform", platform, "--core", core, "--print-path", str(kernel))
    code, said = run(*words, bin=STANDIN / "bin", BATON_CACHE_DIR=str(tmp_path))
    assert code == 0, said
    library = pathlib.Path(said.splitlines()[0])
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    for name in ("kernel_entry", f"baton_{platform}_image", f"baton_{platform}_image_end", f"baton_{platform}_image_magic"):
        assert f" {name}\n" in symbols
    assert b"baton_launch_kernel_entry" in library.read_bytes()
    written = library.stat().st_mtime_ns
    code, again = run(*words, bin=STANDIN / "bin", BATON_CACHE_DIR=str(tmp_path))
    assert code == 0 and again.splitlines()[0] == str(library) and library.stat().st_mtime_ns == written


def test_compile_shows_the_line_of_the_author(kernel, tmp_path):
    kernel.write_text('#include "tensor.h"\nextern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {\n'
                      "#if defined(BATON_FOR_ASCEND)\n  args[0] = nowhere;\n#endif\n}\n")
    code, said = run("compile", "--platform", "a2a3", str(kernel), bin=STANDIN / "bin", BATON_CACHE_DIR=str(tmp_path))
    assert code == 1 and "1 error (stand-in for ccec" in said and f"{kernel}:4:" in said and "nowhere" in said


def test_compile_without_the_compiler_says_where_it_comes_from(kernel, tmp_path):
    code, said = run("compile", "--platform", "a2a3", str(kernel), BATON_CACHE_DIR=str(tmp_path))
    assert code == 1 and "there is no ccec on the PATH" in said and "set_env.sh" in said
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ccec").symlink_to(STANDIN / "bin/ccec")
    code, said = run("compile", "--platform", "a2a3", str(kernel), bin=tmp_path / "bin", BATON_CACHE_DIR=str(tmp_path))
    assert code == 1 and "has no linker beside it" in said
