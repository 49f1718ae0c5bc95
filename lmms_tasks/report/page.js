"use strict";
// The rows of the sample browser. Every text is set as text: nothing in a row is ever read as HTML.
(() => {
  const PAGE = 20;
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const [RUN, DOC, STATUS, SCORES, QUESTION, GOLD, ANSWERS, VERDICTS, SPREAD] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  let chosen = [];
  let first = 0;

  function element(name, settings = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(settings)) {
      if (key === "text") made.textContent = value;
      else made.setAttribute(key, value);
    }
    made.append(...children.filter(Boolean));
    return made;
  }

  const text = (number) => (number === null || number === undefined ? "" : data.texts[number]);
  const task = () => data.tasks[Number($("task").value) || 0];
  const metric = () => Number($("metric").value) || 0;
  const number = (value) => (value === null ? "not scored" : String(value));

  function options(select, entries, selected) {
    select.replaceChildren(...entries.map(([value, label]) => element("option", { value, text: label })));
    select.value = String(selected);
  }

  function changeTask() {
    options($("run"), [["all", "all runs"], ...task().runs.map((label, at) => [String(at), label])], "all");
    options($("metric"), task().metrics.map((name, at) => [String(at), name]), task().primary);
    choose();
  }

  function choose() {
    const { rows, higher } = task();
    const at = metric();
    const run = $("run").value;
    const show = $("show").value;
    const wanted = $("contains").value.trim().toLowerCase();
    chosen = rows.filter((row) => {
      if (run !== "all" && row[RUN] !== Number(run)) return false;
      if (show === "unscored" && row[SCORES].some((s) => s !== null) && !isUnscored(row)) return false;
      if (show === "disagree" && !(row[SPREAD] > 0)) return false;
      if (!wanted) return true;
      return [row[QUESTION], row[GOLD], ...row[ANSWERS]].some((t) => text(t).toLowerCase().includes(wanted));
    });
    const sign = higher[at] === false ? -1 : 1;
    if (show === "worst") {
      chosen = chosen.filter((row) => row[SCORES][at] !== null && row[SCORES][at] !== undefined);
      chosen.sort((a, b) => sign * (a[SCORES][at] - b[SCORES][at]) || a[DOC] - b[DOC]);
    } else if (show === "disagree") {
      chosen.sort((a, b) => b[SPREAD] - a[SPREAD] || a[DOC] - b[DOC]);
    }
    first = 0;
    draw();
  }

  function isUnscored(row) {
    return ["unscored", "request_failed", "no_judge", "infrastructure_error", "no_transcript"].includes(row[STATUS]);
  }

  function draw() {
    const shown = chosen.slice(first, first + PAGE);
    $("count").textContent = chosen.length
      ? `${(first + 1).toLocaleString("en")} to ${(first + shown.length).toLocaleString("en")} of ${chosen.length.toLocaleString("en")} rows`
      : "no rows";
    for (const id of ["previous", "previous-below"]) $(id).disabled = first === 0;
    for (const id of ["next", "next-below"]) $(id).disabled = first + PAGE >= chosen.length;
    $("rows").replaceChildren(
      ...(shown.length ? shown.map(drawRow) : [element("p", { class: "empty", text: "No row is like this." })]),
    );
  }

  function drawRow(row) {
    const { metrics, runs, images, illustrated } = task();
    const scores = metrics.map((name, at) => [name, row[SCORES][at]]);
    const at = metric();
    const named = row[DOC] === null ? "a row" : `Row ${row[DOC]}`;
    return element("article", { class: "row", tabindex: "-1", "aria-label": `${named}, ${runs[row[RUN]]}` },
      element("header", {},
        element("b", { text: named }),
        element("span", { class: "of", text: runs[row[RUN]] }),
        scores[at] && element("span", { class: "score", text: `${scores[at][0]} ${number(scores[at][1])}` }),
        !["judged", "scored", "played", "answered"].includes(row[STATUS]) && element("span", { class: "status", text: row[STATUS].replaceAll("_", " ") }),
        row[SPREAD] > 0 && element("span", { class: "split", text: `judges up to ${row[SPREAD]} apart` })),
      row[DOC] !== null && images[row[DOC]] && illustrated.includes(row[RUN]) && drawImages(images[row[DOC]], named),
      row[QUESTION] !== null && passage("Question", text(row[QUESTION])),
      element("div", { class: "pair" },
        element("div", {}, ...(row[ANSWERS].length
          ? row[ANSWERS].map((t, i) => passage(row[ANSWERS].length > 1 ? `Answer ${i + 1}` : "Answer", text(t)))
          : [passage("Answer", "(the log holds no answer)")])),
        element("div", { class: "gold" }, passage("Gold", row[GOLD] === null ? "(the log holds no gold answer)" : text(row[GOLD])))),
      drawDetails(scores, row[VERDICTS]));
  }

  function passage(heading, body) {
    return element("div", {}, element("h5", { text: heading }),
      element("pre", { tabindex: "0", text: body === "" ? "(empty)" : body, "aria-label": heading }));
  }

  function drawImages(list, named) {
    return element("div", { class: "images" }, ...list.map((image, i) => {
      if (image.frame) return drawFrame(image.frame);
      if (!image.src) return element("code", { text: image.path });
      const button = element("button", { type: "button", "aria-label": `Enlarge image ${i + 1}` },
        element("img", { src: image.src, alt: `Image ${i + 1} of ${named}`, loading: "lazy" }));
      button.addEventListener("click", () => {
        $("zoom").querySelector("img").src = image.src;
        $("zoom").showModal();
      });
      return button;
    }));
  }

  function drawFrame({ size, boxes, label }) {
    const made = (name, settings) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(settings)) node.setAttribute(key, value);
      return node;
    };
    const frame = made("svg", { viewBox: `0 0 ${size[0]} ${size[1]}`, role: "img", "aria-label": label || "boxes on an empty frame" });
    for (const [x0, y0, x1, y1] of boxes) {
      frame.append(made("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, fill: "none", stroke: "var(--series-2)", "stroke-width": Math.max(...size) / 150 }));
    }
    return frame;
  }

  function drawDetails(scores, verdicts) {
    const cells = (name, values) => values.map((value) => element(name, { text: value }));
    const table = (heads, lines) => element("div", { class: "scroll", tabindex: "0" }, element("table", {},
      element("thead", {}, element("tr", {}, ...cells("th", heads))),
      element("tbody", {}, ...lines.map((line) => element("tr", {}, ...cells("td", line))))));
    return element("details", { class: "verdicts" },
      element("summary", { text: verdicts.length ? `All scores and ${verdicts.length} verdict${verdicts.length > 1 ? "s" : ""}` : "All scores" }),
      table(["metric", "score"], scores.map(([name, value]) => [name, number(value)])),
      verdicts.length > 0 && table(["judge", "generation", "status", "said"],
        verdicts.map(([who, generation, status, said]) => [text(who), String(generation + 1), status, text(said)])));
  }

  function turn(step) {
    const to = first + step * PAGE;
    if (to < 0 || to >= chosen.length) return;
    first = to;
    draw();
    $("samples").scrollIntoView();
  }

  function walk(step) {
    const rows = [...document.querySelectorAll(".row")];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
    if (next) {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "start" });
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("zoom").open) return;
    if (event.target.closest("input, select, textarea")) return;
    const act = { j: () => walk(1), k: () => walk(-1), n: () => turn(1), p: () => turn(-1), "/": () => $("contains").focus() }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("task").addEventListener("change", changeTask);
  for (const id of ["run", "show", "metric"]) $(id).addEventListener("change", choose);
  let waiting = 0;
  $("contains").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, 150);
  });
  for (const suffix of ["", "-below"]) {
    $(`previous${suffix}`).addEventListener("click", () => turn(-1));
    $(`next${suffix}`).addEventListener("click", () => turn(1));
  }
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  if (data.tasks.length) {
    options($("task"), data.tasks.map((entry, at) => [String(at), entry.task]), 0);
    changeTask();
  } else {
    $("filters").hidden = true;
    $("count").textContent = "No sample log was found: run with --log_samples.";
    for (const pager of document.querySelectorAll(".pager button")) pager.hidden = true;
  }
  document.documentElement.dataset.ready = "yes";
})();
