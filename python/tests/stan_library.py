"""Compiles a Stan program on the spot, by what httpstan brings along, into a library with BridgeStan's interface."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent / "stan"


def compiled(program: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The library of ``program`` in ``folder``: about twenty seconds of a processor."""
    import httpstan

    home = pathlib.Path(httpstan.__file__).parent
    flags = ["-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-w", "-D_REENTRANT", "-DSTAN_THREADS"]
    flags += ["-DBOOST_DISABLE_ASSERTS", "-isystem", str(home / "include")]
    source, library = folder / f"{program.stem}.hpp", folder / f"{program.stem}_model.so"

    def run(*words):
        subprocess.run([str(word) for word in words], check=True)

    run(home / "stanc", "--O1", "--o", source, program)
    run("g++", *flags, "-x", "c++", "-c", source, "-o", folder / f"{program.stem}.o")
    bridge = folder / "bridge.o"
    if not bridge.exists():
        run("g++", *flags, "-c", HERE / "bridge.cpp", "-o", bridge)
    objects = [folder / f"{program.stem}.o", bridge, home / "lib" / "libtbb.so.2"]
    run("g++", "-shared", *objects, f"-Wl,-rpath,{home / 'lib'}", "-o", library)
    return library
