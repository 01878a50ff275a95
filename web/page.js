"use strict";
const LARGEST = @LARGEST@e6; // bytes of text
const at = (id) => document.getElementById(id);
const count = (n) => n.toLocaleString("en");
const some = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

let table = null; // {name, blob, columns} that is looked at
let model = null; // the last one that was found
let result = null; // what the program told about it
let running = null;
let urls = [];

/* ---- The program ---- */

const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const unpacked = (blob) => blob.stream().pipeThrough(new DecompressionStream("gzip"));
const program = new Response(unpacked(new Blob([bytesOf(at("program").textContent)]))).arrayBuffer().then(WebAssembly.compile);
program.catch(() => complain("This browser is too old to run the program; any browser since 2023 can."));
const workerUrl = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));
const canSuspend = "Suspending" in WebAssembly; // then the program can be asked to stop and keeps what it has

/* Runs the program once. Resolves to its exit code, output, messages and the files it made. */
async function runProgram(args, files, outputs) {
  const module = await program;
  const worker = new Worker(workerUrl);
  let output = "", messages = "";
  running = { worker, asked: false };
  try {
    return await new Promise((resolve, reject) => {
      running.abandon = () => reject(new Error("Stopped. Nothing was kept."));
      worker.onerror = (event) => reject(new Error(event.message));
      worker.onmessage = ({ data }) => {
        if (data.output !== undefined) output += data.output;
        else if (data.messages !== undefined) messages = showProgress(messages + data.messages);
        else if (data.failure !== undefined) reject(new Error(explain(data.failure)));
        else resolve({ code: data.code, output, messages: messages.split("\n").filter((line) => line !== ""), made: data.made });
      };
      worker.postMessage({ module, args, files, outputs });
    });
  } finally {
    worker.terminate();
    running = null;
  }
}

function explain(failure) {
  return /memory|unreachable|RangeError|NotReadable/.test(failure)
    ? "The table needs more memory than a page can have. The program itself, outside the browser, has no such limit."
    : `The program ended with an error: ${failure}`;
}

/* A progress line follows a carriage return and is erased by the next; it is no message. */
function showProgress(text) {
  const lines = text.split("\n");
  const last = lines.pop().replaceAll("\x1b[K", "").split("\r");
  const line = last.pop();
  if (line !== "" || last.length > 0) at("progress-text").textContent = line;
  const restart = /Restart (\d+)\/(\d+)/.exec(line);
  if (restart) at("progress").value = (restart[1] - 1) / restart[2];
  return lines.map((one) => one.replaceAll("\x1b[K", "").split("\r").pop() + "\n").join("") + (last.length > 0 ? "" : line);
}

/* ---- What the page says ---- */

function complain(sentence) {
  at("wrong").textContent = sentence;
}

function begin(what) {
  complain("");
  at("status").textContent = what;
  at("progress").removeAttribute("value");
  at("progress-text").textContent = "";
  at("stop-button").disabled = false;
  at("work-part").hidden = false;
  for (const button of ["zoo-button", "fit-button", "predict-button"]) at(button).disabled = true;
}

function end(what) {
  at("work-part").hidden = true;
  at("status").textContent = what;
  for (const button of ["zoo-button", "fit-button", "predict-button"]) at(button).disabled = false;
}

/* Does one thing at a time; what goes wrong is said in one place. */
async function work(what, action) {
  if (running) return;
  begin(what);
  try {
    end(await action());
  } catch (error) {
    end("");
    complain(error.message);
  }
}

function refuse(done) {
  throw new Error(done.messages.map((line) => line.replace(/^coforest: /, "").replaceAll("in/", "")).join(" ")
    || `The program ended with code ${done.code}.`);
}

function list(id, lines) {
  at(id).replaceChildren(...lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  }));
}

function offer(id, files) {
  at(id).replaceChildren("Download:", ...files.filter(([blob]) => blob).map(([blob, name, what]) => {
    const link = document.createElement("a");
    link.className = "button";
    link.textContent = what;
    link.download = name;
    link.href = URL.createObjectURL(blob);
    urls.push(link.href);
    return link;
  }));
}

/* ---- Reading files ---- */

async function load(file) {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const name = file.name.replaceAll("/", "_");
  if (head[0] === 0x28 && head[1] === 0xb5) throw new Error(`${name} is compressed with zstd. Unpack it, or use gzip.`);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return { name, blob: fits(file, name) };
  const parts = [];
  let size = 0;
  const reader = unpacked(file).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw new Error(`${name} is damaged: it cannot be unpacked.`); });
    if (done) break;
    parts.push(value);
    size += value.length;
    fits({ size }, name);
  }
  return { name: name.replace(/\.gz$/i, ""), blob: new Blob(parts) };
}

function fits(file, name) {
  if (file.size <= LARGEST) return file;
  throw new Error(`${name} has more than ${LARGEST / 1e6} MB of text, the most that this page takes. ` +
    "The program itself, outside the browser, has no such limit.");
}

function dialect() {
  const args = ["--charset", at("charset").value, "--na", at("na").value];
  if (at("delimiter").value !== "") args.push("--delimiter", at("delimiter").value);
  for (const flag of ["no-header", "trim", "ignore-case"]) if (at(flag).checked) args.push(`--${flag}`);
  return args;
}

/* ---- Looking at a table ---- */

const KINDS = {
  identifier: "Looks like an identifier, so it is left out",
  constant: "Says nothing about clusters",
  quantity: "A quantity: it is cut into ranges",
};

function describeTable(file) {
  at("result-part").hidden = at("columns-part").hidden = at("fit-part").hidden = true;
  return work(`Reading ${file.name} …`, async () => {
    table = await load(file);
    return lookAtTable();
  });
}

async function lookAtTable() {
  const done = await runProgram(["describe", `in/${table.name}`, "--json", ...dialect()], { [`in/${table.name}`]: table.blob }, []);
  if (done.code !== 0) refuse(done);
  const told = JSON.parse(done.output);
  table.columns = told.columns;
  at("table-summary").textContent = `${table.name}: ${some(told.n_rows, "row")}, ${some(told.n_columns, "column")}, ` +
    `${some(told.n_distinct_rows, "distinct row")}.`;
  list("notices", told.notices);
  at("columns").tBodies[0].replaceChildren(...told.columns.map((column) => rowOf(column, told.n_rows)));
  at("columns-part").hidden = at("fit-part").hidden = false;
  at("columns-title").focus();
  return `${table.name} was read.`;
}

function rowOf(column, rows) {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = column.name;
  const cell = (text, label) => {
    const made = document.createElement("td");
    made.textContent = text;
    if (label) made.dataset.name = label;
    return made;
  };
  if (column.kind !== "category") {
    const why = document.createElement("span");
    why.className = "why";
    why.textContent = `${KINDS[column.kind] ?? column.kind}: ${column.why}.`;
    name.append(why);
    row.classList.toggle("odd", column.kind !== "quantity");
  }
  const use = cell("", "");
  use.append(choice(column));
  const top = column.top.slice(0, 5).map((one) => `${one.value === "" ? "(empty)" : one.value} ${share(one.rows, rows)}`);
  row.append(name, use, cell(count(column.n_values), "Values"), cell(column.n_missing ? count(column.n_missing) : "none", "Missing"),
    cell(top.join(", ") + (column.n_values > 5 ? ", …" : "")));
  return row;
}

function share(part, whole) {
  const percent = Math.round((100 * part) / whole);
  return percent === 0 ? "<1\u00a0%" : `${percent}\u00a0%`;
}

function choice(column) {
  const select = document.createElement("select");
  const ways = [["use", "cluster on it"], ["ignore", "leave it out"], ["label", "true classes, to compare with"]];
  if (column.kind === "quantity") ways.splice(1, 0, ["category", "every number is a category"]);
  for (const [value, text] of ways) select.add(new Option(text, value));
  select.value = column.kind === "identifier" ? "ignore" : "use";
  select.setAttribute("aria-label", `What column ${column.name} is for`);
  select.onchange = () => { // only one column has the classes
    if (select.value !== "label") return;
    for (const other of at("columns").querySelectorAll("select")) if (other !== select && other.value === "label") other.value = "use";
  };
  return select;
}

function columnArgs() {
  const selects = [...at("columns").querySelectorAll("select")];
  const named = (...ways) => table.columns.filter((column, i) => ways.includes(selects[i].value));
  const used = named("use", "category");
  const all = (option, columns) => columns.flatMap((column) => [option, column.name]);
  if (used.length === 0) throw new Error("No column is left to cluster on. Choose “cluster on it” for at least one.");
  const isIdentifier = (column) => column.kind === "identifier"; // the program leaves it out, and names rows by it
  return [...all("--label", named("label")), ...all("--categorical", named("category")),
    ...(used.some(isIdentifier) ? all("--columns", used) : all("--ignore", named("ignore").filter((c) => !isIdentifier(c))))];
}

/* ---- Finding clusters ---- */

const OUTPUTS = { "--labels-out": "out/labels.csv", "--table-out": "out/table.csv", "--model-out": "out/model.cof", "--report": "out/report.html" };
const stem = (name) => name.replace(/\.[^.]*$/, "");

function fitArgs() {
  const args = ["fit", `in/${table.name}`, "--json", "-k", at("k-auto").checked ? "auto" : at("k").value, ...dialect(), ...columnArgs(),
    "--missing", at("missing").value, "--seed", at("seed").value];
  if (at("restarts").value !== "") args.push("--restarts", at("restarts").value);
  return [...args, ...Object.entries(OUTPUTS).flat()];
}

async function fit() {
  for (const url of urls.splice(0)) URL.revokeObjectURL(url);
  at("result-part").hidden = true;
  const began = performance.now();
  const done = await runProgram(fitArgs(), { [`in/${table.name}`]: table.blob }, Object.values(OUTPUTS));
  const seconds = (performance.now() - began) / 1000;
  if (!done.made[OUTPUTS["--report"]]) refuse(done);
  showResult(JSON.parse(done.output), done, seconds);
  return done.code === 130 ? "Stopped early; the best result so far was kept." : "Clusters were found.";
}

async function showResult(told, done, seconds) {
  result = told;
  const stopped = done.code === 130 ? " It was stopped early; this is the best result so far." : "";
  at("result-summary").textContent = (told.structure_found === false ? "No structure was found: " : "") +
    `${some(told.k, "cluster")} of ${some(told.n_rows, "row")}, in ${seconds.toFixed(1)} s.${stopped}`;
  list("result-notices", done.messages.map((line) => line.replace(/^coforest: /, "")));
  model = done.made[OUTPUTS["--model-out"]];
  at("own-model").hidden = !model;
  const name = stem(table.name);
  offer("downloads", [[done.made["out/labels.csv"], `${name}-labels.csv`, "Labels (CSV)"],
    [done.made["out/table.csv"], `${name}-clusters.csv`, "Table with clusters (CSV)"],
    [model, `${name}.cof`, "Model"], [done.made["out/report.html"], `${name}-report.html`, "Report (HTML)"]]);
  at("result-part").hidden = false;
  at("report").srcdoc = await done.made["out/report.html"].text();
  at("result-title").focus();
}

/* ---- Labelling rows ---- */

async function predict() {
  at("predict-result").hidden = true;
  const from = at("model-file").files[0] ?? model;
  const given = at("new-file").files[0];
  if (!from) throw new Error("Choose a model first: a file that was saved as “Model”.");
  if (!given) throw new Error("Choose the table with the rows to label.");
  const rows = await load(given);
  const args = ["predict", "in/model.cof", `in/${rows.name}`, "--json", ...dialect(), "--labels-out", "out/labels.csv",
    "--table-out", "out/table.csv"];
  const done = await runProgram(args, { "in/model.cof": from, [`in/${rows.name}`]: rows.blob }, ["out/labels.csv", "out/table.csv"]);
  if (done.code !== 0) refuse(done);
  const told = JSON.parse(done.output);
  at("predict-summary").textContent = `${some(told.n_rows, "row")} of ${rows.name} were labelled.`;
  list("predict-notices", done.messages.map((line) => line.replace(/^coforest: /, "").replaceAll("in/", "")));
  offer("predict-downloads", [[done.made["out/labels.csv"], `${stem(rows.name)}-labels.csv`, "Labels (CSV)"],
    [done.made["out/table.csv"], `${stem(rows.name)}-clusters.csv`, "Table with clusters (CSV)"]]);
  at("predict-result").hidden = false;
  at("predict-summary").focus();
  return "Rows were labelled.";
}

/* ---- Buttons ---- */

at("table-file").onchange = () => { if (at("table-file").files[0]) describeTable(at("table-file").files[0]); };
at("zoo-button").onclick = () => describeTable(new File([at("zoo").textContent], "zoo.csv"));
for (const id of ["delimiter", "charset", "no-header", "trim", "ignore-case", "na"]) {
  at(id).onchange = () => { if (table) work(`Reading ${table.name} …`, lookAtTable); };
}
at("k").oninput = () => { at("k-given").checked = true; };
at("fit-form").onsubmit = (event) => {
  event.preventDefault();
  work("Looking for clusters …", fit);
};
at("predict-form").onsubmit = (event) => {
  event.preventDefault();
  work("Labelling rows …", predict);
};
at("stop-button").onclick = () => {
  if (!running) return;
  if (!canSuspend || running.asked) return running.abandon();
  running.asked = true;
  running.worker.postMessage({ stop: true });
  at("status").textContent = "Stopping; what was found so far is kept. Stop once more to give it up.";
};
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault(); // the browser would open the file instead of this page
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) describeTable(event.dataTransfer.files[0]);
  });
}
document.addEventListener("dragleave", () => at("drop").classList.remove("over"));
