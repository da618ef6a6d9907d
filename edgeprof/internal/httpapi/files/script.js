"use strict";

// All text goes in as text, never as HTML: names come from other machines.
const at = (id) => document.getElementById(id);

function make(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...children);
  return e;
}

function drawn(tag, attributes) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

function seconds(s) {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) {
    if (s >= size || unit === "µs") return `${Number((s / size).toPrecision(3)).toLocaleString("en")} ${unit}`;
  }
}

function bytes(n) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (n >= size) return `${(n / size).toPrecision(3)} ${unit}`;
  }
  return `${n} B`;
}

function headers(more) {
  const token = sessionStorage.getItem("token");
  return token ? { ...more, Authorization: `Bearer ${token}` } : { ...more };
}

// problemOf is what a refusal says (RFC 9457), or that it says nothing.
function problemOf(status, text) {
  try {
    const p = JSON.parse(text);
    if (p.title) return p;
  } catch { /* not one of ours */ }
  return { title: "The service failed", status, detail: `status ${status}` };
}

function showProblem(p) {
  const box = at("error");
  box.replaceChildren(make("strong", "", p.title), ` ${p.detail || ""}`);
  if (p.errors) box.append(make("ul", "", ...p.errors.map((e) => make("li", "", `${e.pointer}: ${e.detail}`))));
  if (p.request_id) box.append(make("div", "quiet", `request ${p.request_id}`));
  box.hidden = false;
  at("token-form").hidden = p.status !== 401;
}

// send uploads with progress, which fetch does not tell.
function send(file) {
  const request = new XMLHttpRequest();
  const progress = at("progress");
  request.open("POST", "api/v1/placements?layers=true&workload=" + workload(file.name) + sizes());
  for (const [name, value] of Object.entries(headers({ "Content-Type": "application/octet-stream" }))) request.setRequestHeader(name, value);
  request.upload.onprogress = (e) => { if (e.lengthComputable) progress.value = e.loaded / e.total; };
  request.onload = () => {
    progress.hidden = true;
    if (request.status === 200) showRanking(file, JSON.parse(request.responseText));
    else showProblem(problemOf(request.status, request.responseText));
  };
  request.onerror = () => {
    progress.hidden = true;
    showProblem({ title: "No answer", detail: "the service is unreachable or closed the connection" });
  };
  at("error").hidden = true;
  at("result").hidden = true;
  if (devices) showDevices(devices);
  progress.value = 0;
  progress.hidden = false;
  request.send(file);
}

// sizes are the open dimensions' as the page's field has them.
function sizes() {
  return at("dims").value.split(/[\s,;]+/).filter(Boolean).map((d) => "&dim=" + encodeURIComponent(d)).join("");
}

// showOpen gives each dimension that a model leaves open a field.
function showOpen(file, open) {
  const field = (d) => {
    const input = make("input");
    input.type = "number"; input.min = 1; input.required = true; input.value = d.size;
    const name = `${d.input}:${d.axis}`;
    input.name = name;
    return make("label", "", d.name ? `${name} (${d.name})` : name, input);
  };
  const again = make("button", "", "Rank with these");
  at("open").replaceChildren(...open.map(field), again);
  at("open").hidden = open.length === 0;
  at("open").onsubmit = (e) => {
    e.preventDefault();
    at("dims").value = [...at("open").querySelectorAll("input")].map((i) => `${i.name}=${i.value}`).join(", ");
    send(file);
  };
}

// longest is how many kernels are shown by themselves: what fits one screen.
const longest = 15;

// showLayers lists the kernels, those that take longest first, each with a bar on one
// axis from 0 to the longest.
function showLayers(layers) {
  const row = (cell, values) => make("tr", "", ...values.map((v) => make(cell, "", v)));
  const number = (v) => v.toLocaleString("en");
  const sum = (list, of) => list.reduce((s, l) => s + of(l), 0);
  const sorted = [...layers].sort((a, b) => b.predicted_seconds - a.predicted_seconds);
  const most = sorted.length ? sorted[0].predicted_seconds : 0;
  const bar = (l) => {
    const svg = drawn("svg", { class: "bar", role: "img", "aria-label": seconds(l.predicted_seconds) });
    svg.append(drawn("rect", { width: `${most > 0 ? 100 * l.predicted_seconds / most : 0}%`, height: "100%" }));
    return svg;
  };
  const all = (name, list) => row("td", [name, "", number(sum(list, (l) => l.macs)), number(sum(list, (l) => l.bytes)), seconds(sum(list, (l) => l.predicted_seconds)), `${(100 * sum(list, (l) => l.share)).toFixed(1)} %`, ""]);
  const rest = sorted.slice(longest);
  at("layers").replaceChildren(
    row("th", ["operator", "shape", "multiply-accumulates", "bytes", "time", "share", make("span", "axis", make("span", "", "0"), make("span", "", seconds(most)))]),
    ...sorted.slice(0, longest).map((l) => row("td", [l.times > 1 ? `${l.times} × ${l.op}` : l.op, l.shape.join("×"), number(l.macs), number(l.bytes), seconds(l.predicted_seconds), `${(100 * l.share).toFixed(1)} %`, bar(l)])),
    ...(rest.length ? [all(`${rest.length} shorter ones`, rest)] : []),
    all("all", layers),
  );
}

// workload is a file's name as Kubernetes takes one.
function workload(name) {
  return name.toLowerCase().replace(/\.onnx$/, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "") || "model";
}

// range draws an interval on a logarithmic scale that all candidates share.
function range(c, low, high) {
  const x = (v) => 2 + 96 * (high > low ? Math.log(v / low) / Math.log(high / low) : 0.5);
  const svg = drawn("svg", { class: "range", role: "img", "aria-label": `between ${seconds(c.low)} and ${seconds(c.high)}` });
  svg.append(
    drawn("line", { class: "track", x1: "2%", x2: "98%", y1: 11, y2: 11 }),
    drawn("line", { class: "between", x1: `${x(c.low)}%`, x2: `${x(c.high)}%`, y1: 11, y2: 11 }),
    drawn("circle", { class: "point", cx: `${x(c.predicted_execution_time)}%`, cy: 11, r: 6 }),
  );
  return svg;
}

// ties numbers candidates as the command rank does: an interval that overlaps that of the
// first one of a number has the same number.
function ties(candidates) {
  let first = 0;
  const wait = (c) => c.wait_seconds || 0;
  return candidates.map((c, i) => {
    const best = candidates[first];
    if (c.high === null || best.high === null || wait(c) + c.low > wait(best) + best.high) first = i;
    return first + 1;
  });
}

// ranked names the devices that the ranking excludes: they are not listed twice.
let ranked = new Set();

function showRanking(file, answer) {
  const known = answer.candidates.filter((c) => c.high !== null);
  const open = (c) => c.high === null && c.low !== null; // part of the cost is unknown
  const interval = (c) => open(c) ? "no upper bound: see the warnings" : c.high === null ? "no interval" : `90 % interval ${seconds(c.low)} to ${seconds(c.high)}`;
  const low = Math.min(...known.map((c) => c.low));
  const high = Math.max(...known.map((c) => c.high));
  at("model-name").textContent = `${file.name}, ${bytes(file.size)}`;
  const places = ties(answer.candidates);
  const tied = (i) => places[i - 1] === places[i] || places[i + 1] === places[i];
  const why = (c) => {
    const more = make("details", "why", make("summary", "", "why"), make("ul", "quiet", ...[c.device_model, ...c.reasons].map((r) => make("li", "", r))));
    more.open = answer.candidates.length === 1;
    return more;
  };
  document.body.classList.add("ranked");
  at("ranking").replaceChildren(
    ...answer.candidates.map((c, i) => make("li", places[i] === 1 ? "card first" : "card",
      make("span", "", make("span", "name", `${places[i]}. ${c.node}`), tied(i) ? make("span", "mark", "tie") : "", c.threads ? make("span", "threads", c.threads === 1 ? "1 thread" : `${c.threads} threads`) : "", c.saturated ? make("span", "mark bad", "saturated") : ""),
      make("span", "quiet", interval(c)),
      c.high === null ? make("span") : range(c, low, high),
      make("span", "time", open(c) ? `≥ ${seconds(c.low)}` : seconds(c.predicted_execution_time)),
      why(c))),
    ...(known.length ? [make("li", "axis quiet", make("span", "ends", ...[low, Math.sqrt(low * high), high].map((v) => make("span", "", seconds(v)))))] : []),
    ...answer.excluded.map((e) => make("li", "card out", make("span", "name", e.node), make("div", "quiet", `excluded: ${e.reason}`))),
  );
  ranked = new Set(answer.excluded.map((e) => e.node));
  at("doubts").hidden = answer.warnings.length === 0;
  at("doubts-of").textContent = answer.warnings.length === 1 ? "1 warning" : `${answer.warnings.length} warnings`;
  at("warnings").replaceChildren(...answer.warnings.map((w) => make("li", "", w)));
  const c = answer.characteristics;
  at("counts").replaceChildren(...[
    ["convolution layers", c.conv_layers], ["pooling layers", c.pool_layers], ["fully connected layers", c.fc_layers], ["filters", c.filter_details],
    ["parameters", c.total_parameters], ["parameter memory", bytes(c.parameter_bytes)], ["multiply-accumulates", c.macs.total],
    ["peak activation memory", bytes(c.peak_activation_bytes)], ["input", bytes(c.model_input_size)], ["output", bytes(c.model_output_size)], ["operators", c.nodes],
  ].map(([name, v]) => make("tr", "", make("td", "", name), make("td", "", typeof v === "number" ? v.toLocaleString("en") : v))));
  showOpen(file, c.open_dimensions || []);
  at("layers-of").hidden = !answer.layers;
  if (answer.layers) showLayers(answer.layers);
  at("manifest").textContent = answer.manifest;
  at("result").hidden = false;
  if (devices) showDevices(devices);
  at("result").scrollIntoView({ behavior: "smooth", block: "nearest" });
}

let devices = null; // as they were read last

function showDevices(answer) {
  devices = answer;
  const listed = (d) => at("result").hidden || !ranked.has(d.node);
  const card = (d) => {
    const m = make("meter");
    m.min = 0; m.max = 100; m.low = 50; m.high = 85; m.optimum = 0; m.value = d.load.cpu_percent;
    m.setAttribute("aria-label", `CPU load of ${d.node}`);
    const facts = [`${d.cores} cores`, d.max_mhz ? `${Math.round(d.max_mhz)} MHz` : "", d.load.memory_available_bytes ? `${bytes(d.load.memory_available_bytes)} free` : "", d.load.disk_percent === undefined ? "" : `disk ${Math.round(d.load.disk_percent)} %`];
    return make("li", "card",
      make("div", "head", make("span", "name", d.node), make("span", "", `CPU ${Math.round(d.load.cpu_percent)} %`)),
      m, make("div", "quiet", d.device_model), make("div", "quiet", facts.filter(Boolean).join(" · ")));
  };
  at("devices").replaceChildren(
    ...answer.devices.filter(listed).map(card),
    ...answer.excluded.filter(listed).map((e) => make("li", "card out", make("span", "name", e.node), make("div", "quiet", e.reason))),
  );
  at("read-at").textContent = `as of ${new Date(answer.read_at).toLocaleTimeString()}`;
}

function state(text, kind) {
  at("state").textContent = text;
  at("state").className = `state ${kind}`;
}

async function refresh() {
  try {
    const response = await fetch("api/v1/devices", { headers: headers(), cache: "no-store" });
    const text = await response.text();
    if (response.ok) {
      const answer = JSON.parse(text);
      showDevices(answer);
      state(`${answer.devices.length} ready`, "good");
      at("token-form").hidden = true;
    } else {
      const p = problemOf(response.status, text);
      state(p.detail || p.title, "bad");
      at("token-form").hidden = response.status !== 401;
    }
  } catch {
    state("the service does not answer", "bad");
  }
  setTimeout(refresh, document.hidden ? 15000 : 2000);
}

async function predictor() {
  const response = await fetch("api/v1/model", { headers: headers() });
  if (!response.ok) return;
  const m = await response.json();
  at("predictor").textContent = `predicted by ${m.kind}, measured on ${m.device_model}`;
}

at("file").addEventListener("click", (e) => { e.target.value = ""; }); // the same file again is a change too
at("file").addEventListener("change", (e) => { if (e.target.files[0]) send(e.target.files[0]); });
for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
  at("drop").addEventListener(name, (e) => {
    e.preventDefault();
    at("drop").classList.toggle("over", over);
    if (name === "drop" && e.dataTransfer.files[0]) send(e.dataTransfer.files[0]);
  });
}
at("copy").addEventListener("click", () => {
  getSelection().selectAllChildren(at("manifest"));
  if (navigator.clipboard) navigator.clipboard.writeText(at("manifest").textContent).catch(() => {});
});
at("token-form").addEventListener("submit", (e) => {
  e.preventDefault();
  sessionStorage.setItem("token", at("token").value);
  at("error").hidden = true;
  predictor().catch(() => {});
});
refresh();
predictor().catch(() => {});
