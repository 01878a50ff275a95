// Runs the program once, with files in memory: as much of WASI (preview 1) as it asks for.
"use strict";
const BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52, SPIPE = 70;
const CHARACTER_DEVICE = 2, DIRECTORY = 3, REGULAR = 4;
const SEEK_AND_TELL = 36n, STOP_FILE = "stop";

class Exit extends Error {
  constructor(code) {
    super();
    this.code = code;
  }
}

class MemoryFile {
  static count = 1n;

  constructor(bytes) {
    this.bytes = bytes;
    this.size = bytes.length;
    this.number = MemoryFile.count++; // the program compares these to know its own files
  }

  resize(size) {
    if (size > this.bytes.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.bytes.length, 4096));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    } else if (size < this.size) this.bytes.fill(0, size, this.size);
    this.size = size;
  }

  read(at, into) {
    const part = this.bytes.subarray(Math.min(at, this.size), Math.min(at + into.length, this.size));
    into.set(part);
    return part.length;
  }

  write(at, from) {
    if (at + from.length > this.size) this.resize(at + from.length);
    this.bytes.set(from, at);
    return from.length;
  }
}

// A stream of text that goes to the page.
class Teller {
  constructor(kind) {
    this.kind = kind;
    this.decoder = new TextDecoder();
  }

  write(at, from) {
    postMessage({ [this.kind]: this.decoder.decode(from.slice(), { stream: true }) });
    return from.length;
  }
}

let stopped = false; // the page asked to stop
let memory;
const view = () => new DataView(memory.buffer);
const bytes = (at, n) => new Uint8Array(memory.buffer, at, n);
const text = (at, n) => new TextDecoder().decode(bytes(at, n));

function makeSystem(args, environment, files) {
  const folders = new Set(["", "in", "out"]);
  const open = [
    { stream: { read: () => 0 } },
    { stream: new Teller("output") },
    { stream: new Teller("messages"), terminal: true },
    { folder: "" },
  ];
  const nameIn = (fd, at, n) => {
    const parts = [...open[fd].folder.split("/"), ...text(at, n).split("/")];
    return parts.filter((part) => part !== "" && part !== ".").join("/");
  };
  const putTexts = (texts, pointers, at) => {
    for (const one of texts) {
      const coded = new TextEncoder().encode(one + "\0");
      view().setUint32(pointers, at, true);
      bytes(at, coded.length).set(coded);
      pointers += 4;
      at += coded.length;
    }
    return 0;
  };
  const putSizes = (texts, count, size) => {
    view().setUint32(count, texts.length, true);
    view().setUint32(size, texts.reduce((sum, one) => sum + new TextEncoder().encode(one).length + 1, 0), true);
    return 0;
  };
  const typeOf = (entry) => (entry.file ? REGULAR : entry.stream ? CHARACTER_DEVICE : DIRECTORY);
  const putAbout = (entry, at) => {
    bytes(at, 64).fill(0);
    view().setBigUint64(at, 1n, true);
    view().setBigUint64(at + 8, entry.file ? entry.file.number : 0n, true);
    view().setUint8(at + 16, typeOf(entry));
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(entry.file ? entry.file.size : 0), true);
    return 0;
  };
  // Calls `move` with each buffer and the place in the file, and stops at the first that is not filled.
  const transfer = (buffers, n, at, total, move) => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const size = view().getUint32(buffers + 8 * i + 4, true);
      const moved = move(at + sum, bytes(view().getUint32(buffers + 8 * i, true), size));
      sum += moved;
      if (moved < size) break;
    }
    view().setUint32(total, sum, true);
    return sum;
  };
  const moveAt = (what) => (fd, buffers, n, at, total) => {
    const entry = open[fd];
    if (!entry?.file) return BADF;
    transfer(buffers, n, Number(at), total, (place, part) => entry.file[what](place, part));
    return 0;
  };
  const moveOn = (what) => (fd, buffers, n, total) => {
    const entry = open[fd];
    const to = entry?.file ?? entry?.stream;
    if (!to) return BADF;
    if (entry.file && entry.append) entry.at = entry.file.size;
    entry.at = (entry.at ?? 0) + transfer(buffers, n, entry.at ?? 0, total, (place, part) => to[what](place, part));
    return 0;
  };
  const lookUp = (name) => {
    if (name === STOP_FILE && stopped) return { folder: name };
    return files.has(name) ? { file: files.get(name) } : folders.has(name) ? { folder: name } : null;
  };

  return {
    args_sizes_get: (count, size) => putSizes(args, count, size),
    args_get: (pointers, at) => putTexts(args, pointers, at),
    environ_sizes_get: (count, size) => putSizes(environment, count, size),
    environ_get: (pointers, at) => putTexts(environment, pointers, at),
    clock_time_get(clock, precision, at) {
      const ms = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
      return 0;
    },
    random_get(at, n) {
      crypto.getRandomValues(bytes(at, n));
      return 0;
    },
    proc_exit(code) {
      throw new Exit(code);
    },
    poll_oneoff(wanted, happened, n, count) { // a pause: it is over at once
      for (let i = 0; i < n; i++) {
        bytes(happened + 32 * i, 32).fill(0);
        bytes(happened + 32 * i, 8).set(bytes(wanted + 48 * i, 8));
      }
      view().setUint32(count, n, true);
      return 0;
    },
    fd_prestat_get(fd, at) {
      if (fd !== 3) return BADF;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name(fd, at) {
      bytes(at, 1)[0] = 47;
      return 0;
    },
    fd_fdstat_get(fd, at) {
      const entry = open[fd];
      if (!entry) return BADF;
      bytes(at, 24).fill(0);
      // a stream that is no terminal is a file to the program
      view().setUint8(at, entry.stream && !entry.terminal ? REGULAR : typeOf(entry));
      view().setUint16(at + 2, entry.append ? 1 : 0, true);
      const rights = 0x1fffffffn & ~(entry.terminal ? SEEK_AND_TELL : 0n);
      view().setBigUint64(at + 8, rights, true);
      view().setBigUint64(at + 16, rights, true);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get: (fd, at) => (open[fd] ? putAbout(open[fd], at) : BADF),
    fd_filestat_set_size(fd, size) {
      if (!open[fd]?.file) return BADF;
      open[fd].file.resize(Number(size));
      return 0;
    },
    fd_read: moveOn("read"),
    fd_write: moveOn("write"),
    fd_pread: moveAt("read"),
    fd_pwrite: moveAt("write"),
    fd_readdir(fd, at, n, cookie, used) {
      view().setUint32(used, 0, true);
      return 0;
    },
    fd_seek(fd, offset, from, at) {
      const entry = open[fd];
      if (!entry?.file) return entry ? SPIPE : BADF;
      const place = Number(offset) + [0, entry.at ?? 0, entry.file.size][from];
      if (place < 0) return INVAL;
      entry.at = place;
      view().setBigUint64(at, BigInt(place), true);
      return 0;
    },
    fd_tell(fd, at) {
      if (!open[fd]?.file) return BADF;
      view().setBigUint64(at, BigInt(open[fd].at ?? 0), true);
      return 0;
    },
    fd_sync: () => 0,
    fd_close(fd) {
      if (!open[fd]) return BADF;
      open[fd] = undefined;
      return 0;
    },
    path_open(fd, lookup, at, n, flags, rights, inherited, mode, to) {
      const name = nameIn(fd, at, n);
      let entry = lookUp(name);
      if (entry && flags & 4) return EXIST;
      if (!entry) {
        if (!(flags & 1)) return NOENT;
        files.set(name, new MemoryFile(new Uint8Array(0)));
        entry = lookUp(name);
      }
      if (entry.file && flags & 8) entry.file.resize(0);
      const free = open.indexOf(undefined);
      const number = free < 0 ? open.length : free;
      open[number] = { ...entry, append: (mode & 1) !== 0 };
      view().setUint32(to, number, true);
      return 0;
    },
    path_filestat_get(fd, flags, at, n, to) {
      const entry = lookUp(nameIn(fd, at, n));
      return entry ? putAbout(entry, to) : NOENT;
    },
    path_rename(fd, at, n, newFd, newAt, newN) {
      const name = nameIn(fd, at, n);
      if (!files.has(name)) return NOENT;
      files.set(nameIn(newFd, newAt, newN), files.get(name));
      files.delete(name);
      return 0;
    },
    path_unlink_file: (fd, at, n) => (files.delete(nameIn(fd, at, n)) ? 0 : NOENT),
    path_link: () => NOSYS,
    path_readlink: () => INVAL,
    path_create_directory: () => NOSYS,
    path_remove_directory: () => NOSYS,
  };
}

// Where the browser can suspend a program, this one waits for messages from the page whenever it looks for the file
// that asks it to stop.
function suspending(system) {
  const look = system.path_filestat_get;
  system.path_filestat_get = new WebAssembly.Suspending(async (...given) => {
    await new Promise((resume) => setTimeout(resume, 0));
    return look(...given);
  });
}

async function run({ module, args, files, outputs }) {
  const held = new Map();
  for (const [name, blob] of Object.entries(files)) held.set(name, new MemoryFile(new Uint8Array(await blob.arrayBuffer())));
  const environment = ["TERM=xterm", "NO_COLOR=1", "COLUMNS=200", "COFOREST_STOP_FILE=/" + STOP_FILE];
  const system = makeSystem(["coforest", ...args], environment, held);
  const canSuspend = "Suspending" in WebAssembly;
  if (canSuspend) suspending(system);
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system });
  memory = instance.exports.memory;
  let code = 0;
  try {
    const start = instance.exports._start;
    await (canSuspend ? WebAssembly.promising(start) : start)();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  }
  const made = {};
  for (const name of outputs) {
    const file = held.get(name);
    if (file) made[name] = new Blob([file.bytes.subarray(0, file.size)]);
  }
  postMessage({ code, made });
}

onmessage = ({ data }) => {
  if (data.stop) stopped = true;
  else run(data).catch((error) => postMessage({ failure: String(error) }));
};
