#!/usr/bin/env python3
"""Runs a WebAssembly program with the files of this machine, by wasmtime (pip install wasmtime).

    tests/systems/wasm_run.py coforest.wasm ARGUMENT...

The compiled module is kept beside the program, since compiling takes longer than most runs.
"""
import os
import signal
import sys

import wasmtime


def load(engine, program):
    kept = program + ".compiled"
    if os.path.exists(kept) and os.path.getmtime(kept) > os.path.getmtime(program):
        return wasmtime.Module.deserialize_file(engine, kept)
    module = wasmtime.Module.from_file(engine, program)
    part = f"{kept}.{os.getpid()}"
    with open(part, "wb") as file:
        file.write(module.serialize())
    os.replace(part, kept)
    return module


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own waits for the program to return
    wasi = wasmtime.WasiConfig()
    wasi.argv = ["coforest", *sys.argv[2:]]
    wasi.env = list(os.environ.items())
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    wasi.preopen_dir(".", ".")  # WASI cannot tell this folder from the root, so that has to be given in parts
    for entry in os.scandir("/"):
        if entry.is_dir() and os.access(entry.path, os.R_OK | os.X_OK):
            wasi.preopen_dir(entry.path, entry.path)
    engine = wasmtime.Engine()
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    linker.allow_shadowing = True  # wasmtime's own refuses exit codes from 126 on
    linker.define_func("wasi_snapshot_preview1", "proc_exit", wasmtime.FuncType([wasmtime.ValType.i32()], []), sys.exit)
    store = wasmtime.Store(engine)
    store.set_wasi(wasi)
    instance = linker.instantiate(store, load(engine, sys.argv[1]))
    instance.exports(store)["_start"](store)


if __name__ == "__main__":
    main()
