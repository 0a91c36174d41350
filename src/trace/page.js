"use strict";
const CLASSES = ["mark", "work", "waiting", "copying", "enclosing"];  // as EventClass
const ROW = 16, THIN = 6, AXIS = 22, GAP = 5, SHORT = 10;  // pixels
const $ = id => document.getElementById(id);
const canvas = $("view"), pen = canvas.getContext("2d");

// ---- data: varints, in the order in which page.cpp writes them

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

class Reader {
  constructor() {
    const parts = [];
    let size = 0;
    for (const element of document.querySelectorAll("script.data")) {
      const bytes = decodeBase64(element.textContent);
      element.remove();
      parts.push(bytes);
      size += bytes.length;
    }
    this.bytes = parts.length === 1 ? parts[0] : new Uint8Array(size);
    if (parts.length !== 1) parts.reduce((at, part) => (this.bytes.set(part, at), at + part.length), 0);
    this.at = 0;
  }
  next() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, scale = 128;
    do {
      byte = bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }
}

function readTracks(reader) {
  const tracks = [];
  let top = 0;
  HEAD.tracks.forEach(([rank, lane, depth, count], index) => {
    const begin = new Float64Array(count), length = new Float64Array(count);
    const label = new Uint32Array(count), place = new Uint32Array(count);
    const details = HEAD.details ? new Uint32Array(count) : null;
    let at = 0;
    for (let i = 0; i < count; ++i) {
      begin[i] = at + reader.next();
      length[i] = reader.next();
      label[i] = reader.next();
      place[i] = reader.next();
      if (details) details[i] = reader.next();
      at = begin[i] + length[i];
    }
    const before = tracks[tracks.length - 1];
    if (before && before.rank !== rank) top += GAP;
    const height = HEAD.tracks.length > 400 ? THIN : ROW;
    tracks.push({index, rank, lane, depth, begin, length, label, place, details, top, height});
    top += height + 1;
  });
  return tracks;
}

function readFlows(reader, count) {
  const flows = {from: new Uint32Array(count), left: new Float64Array(count), to: new Uint32Array(count), arrived: new Float64Array(count)};
  for (let i = 0; i < count; ++i) {
    flows.from[i] = reader.next();
    flows.left[i] = reader.next();
    flows.to[i] = reader.next();
    flows.arrived[i] = flows.left[i] + reader.next();
  }
  return flows;
}

const reader = new Reader();
const tracks = readTracks(reader);
const flows = readFlows(reader, HEAD.notifies + HEAD.edges);
const path = [];
for (let i = 0; i < HEAD.path; ++i) path.push({track: reader.next(), begin: reader.next(), length: reader.next()});
reader.bytes = null;

// ---- what is seen

const FONT = "11px system-ui, sans-serif";
pen.font = FONT;
/// Pixels from the left edge to the names of lanes, behind those of ranks, and to the times.
const LANES = 16 + tracks.reduce((most, track, i) => i > 0 && track.rank === tracks[i - 1].rank ? most
  : Math.max(most, Math.min(Math.ceil(pen.measureText(track.rank).width), 240)), 54);
const NAMES = LANES + 120;

const state = {from: 0, to: Math.max(HEAD.length, 1), scroll: 0, chosen: null, found: null, foundLabels: null, arrows: true, path: true};
const total = () => tracks.length ? tracks[tracks.length - 1].top + tracks[tracks.length - 1].height : 0;
const width = () => canvas.clientWidth - NAMES;
const xOf = time => NAMES + (time - state.from) / (state.to - state.from) * width();
const timeAt = x => state.from + (x - NAMES) / width() * (state.to - state.from);
const yOf = track => AXIS + track.top - state.scroll;
let colours = {};

function duration(ns) {
  if (ns >= 1e9) return (ns / 1e9).toFixed(3) + " s";
  if (ns >= 1e6) return (ns / 1e6).toFixed(3) + " ms";
  if (ns >= 1e3) return (ns / 1e3).toFixed(2) + " us";
  return Math.round(ns) + " ns";
}

/// A time on the axis: with as many digits as tell it from its neighbour, `step` away.
function axisTime(ns, step) {
  const [scale, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "us"] : [1, "ns"];
  return (ns / scale).toFixed(Math.max(0, Math.min(12, Math.ceil(Math.log10(scale / step) - 1e-9)))) + " " + unit;
}

/// The first event of a track, from `low` on, that does not end before `time`.
function firstAfter(track, time, low = 0) {
  let high = track.begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.begin[middle] + track.length[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}

function drawTrack(track) {
  const y = yOf(track), perPixel = (state.to - state.from) / width();
  const tall = track.height === ROW;
  let alphaNow = null, colourNow = null;
  for (let i = firstAfter(track, state.from); i < track.begin.length && track.begin[i] <= state.to;) {
    const label = track.label[i], kind = HEAD.classes[label];
    const x = Math.max(NAMES, xOf(track.begin[i])), end = Math.min(xOf(track.begin[i] + track.length[i]), NAMES + width());
    const faded = state.foundLabels !== null && !state.foundLabels.has(label);
    const alpha = faded ? .15 : kind === 4 ? .55 : 1;
    const colour = colours[CLASSES[kind]];
    // Setting them costs more than a rectangle.
    if (alpha !== alphaNow) pen.globalAlpha = alphaNow = alpha;
    if (colour !== colourNow) pen.fillStyle = colourNow = colour;
    const wide = Math.max(end - x, 1);
    if (wide === 1) {
      // A whole pixel: nothing is blended.
      pen.fillRect(Math.floor(x), y, 1, track.height);
    } else if (track.length[i] === 0) {
      pen.fillRect(x - .5, y, 1.5, track.height);
    } else {
      pen.fillRect(x, y, wide > 2 ? wide - .5 : wide, track.height);
    }
    if (tall && wide > 24) {
      pen.globalAlpha = alphaNow = 1;
      pen.fillStyle = colourNow = faded ? colours.faint : kind === 4 ? colours.text : colours.label;
      pen.save();
      pen.beginPath();
      pen.rect(x, y, wide, track.height);
      pen.clip();
      pen.fillText(HEAD.labels[label], x + 4, y + 12);
      pen.restore();
    }
    // What ends within the same pixel is not drawn again; what only begins there is.
    i = wide > 1 ? i + 1 : firstAfter(track, timeAt(Math.floor(x) + 1) - perPixel * .01, i + 1);
  }
  pen.globalAlpha = 1;
}

function drawNames(height) {
  let rank = null;
  pen.textBaseline = "alphabetic";
  for (const track of tracks) {
    const y = yOf(track);
    const first = track.rank !== rank;
    rank = track.rank;
    if (y > height || y + track.height < AXIS) continue;
    if (first) {
      pen.fillStyle = colours.line;
      pen.fillRect(0, y - GAP / 2, canvas.clientWidth, 1);
    }
    pen.fillStyle = first ? colours.text : colours.faint;
    if (track.height === ROW) {
      pen.fillText(first ? track.rank : "", 8, y + 12, LANES - 14);
      if (track.depth === 0) pen.fillText(track.lane, LANES, y + 12);
    } else if (first) {
      pen.fillText(track.rank, 8, y + 8, NAMES - 14);
    }
  }
}

function drawAxis() {
  pen.fillStyle = colours.ground;
  pen.fillRect(0, 0, canvas.clientWidth, AXIS - 2);
  const span = state.to - state.from, wish = span / Math.max(width() / 110, 1);
  let step = 10 ** Math.floor(Math.log10(wish));
  for (const factor of [2, 5, 10]) if (step < wish) step = 10 ** Math.floor(Math.log10(wish)) * factor;
  pen.fillStyle = colours.faint;
  for (let time = Math.ceil(state.from / step) * step; time <= state.to; time += step) {
    const x = xOf(time), text = axisTime(time, step);
    pen.fillRect(x, AXIS - 6, 1, 4);
    if (x + 3 + pen.measureText(text).width < canvas.clientWidth) pen.fillText(text, x + 3, 13);
  }
  pen.fillText(duration(span) + " shown", 8, 13);
}

function drawArrows(height) {
  const chosen = state.chosen;
  let drawn = 0;
  const draw = (i, strong) => {
    const from = tracks[flows.from[i]], to = tracks[flows.to[i]];
    const x = xOf(flows.left[i]), y = yOf(from) + from.height / 2, x2 = xOf(flows.arrived[i]), y2 = yOf(to) + to.height / 2;
    if (Math.max(y, y2) < AXIS || Math.min(y, y2) > height) return;
    // Between neighbours they would hide what they join.
    if (!strong && x2 - x < SHORT && Math.abs(y2 - y) < 4 * ROW) return;
    pen.globalAlpha = strong ? 1 : .45;
    pen.strokeStyle = pen.fillStyle = strong ? colours.path : colours.text;
    pen.lineWidth = strong ? 1.6 : .8;
    pen.beginPath();
    pen.moveTo(x, y);
    const bend = Math.max(12, (x2 - x) / 2);
    pen.bezierCurveTo(x + bend, y, x2 - bend, y2, x2, y2);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x2, y2);
    pen.lineTo(x2 - 5, y2 - 3);
    pen.lineTo(x2 - 5, y2 + 3);
    pen.fill();
  };
  const inView = i => flows.arrived[i] >= state.from && flows.left[i] <= state.to;
  if (state.arrows) {
    const near = [];
    for (let i = 0; i < flows.from.length && near.length < 1500; ++i) if (inView(i)) near.push(i);
    if (near.length < 1500) for (const i of near) draw(i, false), ++drawn;
  }
  if (chosen) for (const i of arrowsOf(chosen)) draw(i, true);
  pen.globalAlpha = 1;
  return drawn;
}

function drawPath() {
  if (!state.path) return;
  pen.fillStyle = colours.path;
  for (const part of path) {
    if (part.begin > state.to || part.begin + part.length < state.from) continue;
    const track = tracks[part.track], x = Math.max(xOf(part.begin), NAMES);
    pen.fillRect(x, yOf(track) + track.height - 2, Math.max(Math.min(xOf(part.begin + part.length), NAMES + width()) - x, 1), 2);
  }
}

function draw() {
  const scale = devicePixelRatio || 1, height = canvas.clientHeight;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = height * scale;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.font = FONT;
  pen.fillStyle = colours.ground;
  pen.fillRect(0, 0, canvas.clientWidth, height);
  pen.save();
  pen.beginPath();
  pen.rect(0, AXIS - 2, canvas.clientWidth, height);
  pen.clip();
  for (const track of tracks) {
    const y = yOf(track);
    if (y > height) break;
    if (y + track.height < AXIS) continue;
    pen.fillStyle = colours.band;
    pen.fillRect(NAMES, y, width(), track.height);
    drawTrack(track);
  }
  drawPath();
  drawArrows(height);
  if (state.chosen) {
    const {track, i} = state.chosen, x = xOf(track.begin[i]);
    pen.strokeStyle = colours.text;
    pen.lineWidth = 2;
    pen.strokeRect(x, yOf(track), Math.max(xOf(track.begin[i] + track.length[i]) - x, 2), track.height);
  }
  pen.fillStyle = colours.ground;
  pen.fillRect(0, AXIS, NAMES, height);
  drawNames(height);
  pen.restore();
  drawAxis();
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}

// ---- an event

function arrowsOf({track, i}) {
  const begin = track.begin[i], end = begin + track.length[i], result = [];
  // Waits are ended, other events begin.
  const reached = CLASSES[HEAD.classes[track.label[i]]] === "waiting" ? end : begin;
  for (let k = 0; k < flows.from.length && result.length < 100; ++k) {
    const out = flows.from[k] === track.index && (flows.left[k] === begin || flows.left[k] === end);
    const into = flows.to[k] === track.index && flows.arrived[k] === reached;
    if (out || into) result.push(k);
  }
  return result;
}

function eventAt(x, y) {
  if (x < NAMES) return null;
  for (const track of tracks) {
    const top = yOf(track);
    if (y < top || y > top + track.height) continue;
    const slack = 3 * (state.to - state.from) / width(), time = timeAt(x);
    const i = firstAfter(track, time - slack);
    if (i < track.begin.length && track.begin[i] <= time + slack) return {track, i};
  }
  return null;
}

function paragraph(box, text) {
  if (text) box.appendChild(document.createElement("p")).textContent = text;
}

function choose(event) {
  state.chosen = event;
  const box = $("details");
  box.hidden = !event;
  box.replaceChildren();
  if (event) {
    const {track, i} = event;
    box.appendChild(document.createElement("h2")).textContent = HEAD.labels[track.label[i]];
    paragraph(box, `${track.rank}, ${track.lane}`);
    paragraph(box, `from ${duration(track.begin[i])}` + (track.length[i] ? `, ${duration(track.length[i])} long` : ""));
    if (track.details) paragraph(box, HEAD.detailTexts[track.details[i]]);
    for (const k of arrowsOf(event).slice(0, 6)) {
      const into = flows.to[k] === track.index && flows.arrived[k] !== flows.left[k] && flows.from[k] !== track.index;
      const other = tracks[into ? flows.from[k] : flows.to[k]];
      const kind = CLASSES[HEAD.classes[track.label[i]]];
      paragraph(box, `${into ? kind === "waiting" ? "ended by" : "comes after" : "leads to"} ${other.rank}, ${other.lane}, at ${duration(into ? flows.left[k] : flows.arrived[k])}`);
    }
    paragraph(box, HEAD.places[track.place[i]]);
  }
  redraw();
}

// ---- moving

function zoom(factor, x) {
  const at = timeAt(x ?? NAMES + width() / 2);
  const span = Math.min(Math.max((state.to - state.from) * factor, 10), HEAD.length * 1.1 + 10);
  const share = (at - state.from) / (state.to - state.from);
  go(at - share * span, span);
}
/// At least half of what is shown is of the run.
function go(from, span) {
  state.from = Math.min(Math.max(from, -span / 2), HEAD.length - span / 2);
  state.to = state.from + span;
  redraw();
}
function pan(share) {
  const span = state.to - state.from;
  go(state.from + share * span, span);
}
function scroll(by) {
  state.scroll = Math.max(0, Math.min(state.scroll + by, total() - canvas.clientHeight + AXIS + 20));
  redraw();
}
function show(begin, length) {
  const room = Math.max(length * .3, 5);
  go(begin - room, length + 2 * room);
}

// ---- search

function search(text) {
  const words = text.trim().toLowerCase();
  state.foundLabels = null;
  state.found = null;
  $("found").textContent = "";
  if (words) {
    state.foundLabels = new Set();
    HEAD.labels.forEach((label, i) => { if (label.toLowerCase().includes(words)) state.foundLabels.add(i); });
    let count = 0;
    for (const track of tracks) for (let i = 0; i < track.label.length; ++i) if (state.foundLabels.has(track.label[i])) ++count;
    $("found").textContent = `${count} found`;
  }
  redraw();
}
/// By time; of those that begin together by track. After the last one comes the first.
function nextFound(step) {
  if (!state.foundLabels) return;
  const compare = (one, other) => step * (one.track.begin[one.i] - other.track.begin[other.i] || one.track.index - other.track.index || one.i - other.i);
  let next = null, first = null;
  for (const track of tracks) {
    for (let i = 0; i < track.label.length; ++i) {
      if (!state.foundLabels.has(track.label[i])) continue;
      const one = {track, i};
      if (!first || compare(one, first) < 0) first = one;
      if (state.found && compare(one, state.found) > 0 && (!next || compare(one, next) < 0)) next = one;
    }
  }
  state.found = next || first;
  if (!state.found) return;
  const {track, i} = state.found;
  show(track.begin[i], Math.max(track.length[i] * 3, (state.to - state.from) * .1));
  state.scroll = 0;
  scroll(track.top - canvas.clientHeight / 2);
  choose(state.found);
}

// ---- the table of ranks

function fillTable() {
  const box = $("ranks"), table = document.createElement("table");
  box.appendChild(document.createElement("h2")).textContent = "Where the time went";
  box.appendChild(table);
  const head = table.insertRow();
  for (const name of ["", "from", "to", "kernels", "copies", "waiting", "idle", "", "waited most for"]) {
    head.appendChild(document.createElement("th")).textContent = name;
  }
  for (const [name, begin, end, kernels, copies, waiting, idle, whom] of HEAD.ranks) {
    const row = table.insertRow(), whole = Math.max(end - begin, 1);
    for (const text of [name, duration(begin), duration(end)]) row.insertCell().textContent = text;
    for (const part of [kernels, copies, waiting, idle]) row.insertCell().textContent = (100 * part / whole).toFixed(0) + " %";
    const bar = row.insertCell();
    bar.className = "bar";
    const strip = bar.appendChild(document.createElement("div"));
    for (const [part, colour] of [[kernels, "work"], [copies, "copying"], [waiting, "waiting"]]) {
      const piece = strip.appendChild(document.createElement("i"));
      piece.style.width = 100 * part / whole + "%";
      piece.style.background = `var(--${colour})`;
    }
    row.insertCell().textContent = whom;
  }
}

// ---- the page

function takeColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "text", "faint", "line", "band", "path", "label", ...CLASSES]) colours[name] = style.getPropertyValue("--" + name).trim();
  redraw();
}
function setTheme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  takeColours();
}
function toggle(id) {
  const element = $(id);
  element.hidden = !element.hidden;
}
function flip(name) {
  state[name] = !state[name];
  $(name).classList.toggle("on", state[name]);
  redraw();
}

$("title").textContent = document.title;
for (const [name, text] of [["work", "kernel"], ["waiting", "waiting"], ["copying", "copy"], ["enclosing", "contains others"], ["mark", "instant"], ["path", "critical path"]]) {
  const entry = $("legend").appendChild(document.createElement("span"));
  entry.appendChild(document.createElement("i")).style.background = `var(--${name})`;
  entry.append(text);
}
fillTable();
const actions = {
  w: () => zoom(.7), s: () => zoom(1 / .7), a: () => pan(-.15), d: () => pan(.15), ArrowLeft: () => pan(-.15), ArrowRight: () => pan(.15),
  ArrowUp: () => scroll(-60), ArrowDown: () => scroll(60), PageUp: () => scroll(-400), PageDown: () => scroll(400),
  f: () => state.chosen ? show(state.chosen.track.begin[state.chosen.i], state.chosen.track.length[state.chosen.i]) : go(0, Math.max(HEAD.length, 1)),
  n: () => nextFound(1), p: () => nextFound(-1), x: () => flip("arrows"), c: () => flip("path"), t: () => toggle("ranks"),
  l: () => setTheme(!document.documentElement.classList.contains("dark")), "?": () => toggle("keys"),
  "/": () => $("search").focus(),
  Escape: () => { choose(null); $("ranks").hidden = $("keys").hidden = true; },
};
addEventListener("keydown", event => {
  if (event.target === $("search")) {
    if (event.key === "Enter") nextFound(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") canvas.focus();
    return;
  }
  const action = !event.ctrlKey && !event.metaKey && (actions[event.key] || actions[event.key.toLowerCase()]);
  if (action) { event.preventDefault(); action(); }
});
$("search").addEventListener("input", event => search(event.target.value));
$("arrows").onclick = () => flip("arrows");
$("path").onclick = () => flip("path");
$("table").onclick = () => toggle("ranks");
$("help").onclick = () => toggle("keys");
$("theme").onclick = actions.l;
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  if (event.ctrlKey || event.metaKey) zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
  else scroll(event.deltaY);
}, {passive: false});
let drag = null;
canvas.addEventListener("pointerdown", event => { drag = {x: event.offsetX, y: event.offsetY, moved: false}; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointermove", event => {
  if (!drag) {
    const at = eventAt(event.offsetX, event.offsetY);
    canvas.title = at ? `${HEAD.labels[at.track.label[at.i]]}, ${duration(at.track.length[at.i])}` : "";
    return;
  }
  const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
  drag = {x: event.offsetX, y: event.offsetY, moved: true};
  pan(-dx / width());
  scroll(-dy);
});
canvas.addEventListener("pointerup", event => {
  if (drag && !drag.moved) choose(eventAt(event.offsetX, event.offsetY));
  drag = null;
});
addEventListener("resize", redraw);
for (const name of ["arrows", "path"]) $(name).classList.toggle("on", state[name]);
// For tests and for links: #t shows the table, #l turns the light, as the keys do; #search=TEXT looks for it.
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
for (const word of location.hash.slice(1).split("&")) {
  if (actions[word]) actions[word]();
  if (word.startsWith("search=")) { $("search").value = decodeURIComponent(word.slice(7)); search($("search").value); nextFound(1); }
}
draw();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
