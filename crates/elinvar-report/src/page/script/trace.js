/* Traces: read out and zoom. */
const source = $("#trace-data");
const data = source ? JSON.parse(source.textContent) : {};
const axis = (text) => {
  const [kind, low, high] = text.split(" ");
  return { log: kind === "log", low: Number(low), high: Number(high) };
};
const share = (a, v) =>
  a.log ? Math.log(v / a.low) / Math.log(a.high / a.low) : (v - a.low) / (a.high - a.low);
const value = (a, s) => (a.log ? a.low * (a.high / a.low) ** s : a.low + s * (a.high - a.low));

/* As in the page without a script: a long trace is a median over a hundredth of it. */
const runningMedian = (list) => {
  if (list.length <= 300) return null;
  const half = Math.floor(list.length / 200);
  return list.map((p, i) => {
    const reach = Math.min(half, i, list.length - 1 - i);
    const middle = (of) => list.slice(i - reach, i + reach + 1).map(of).sort((a, b) => a - b)[reach];
    return { x: p.x, y: middle((q) => q.y), low: middle((q) => q.low), high: middle((q) => q.high) };
  });
};

const trace = (svg) => {
  const { quantity, along, stairs } = svg.dataset;
  const [left, top, width, height] = svg.dataset.frame.split(" ").map(Number);
  const home = { x: axis(svg.dataset.x), y: axis(svg.dataset.y) };
  let view = home;
  const points = [];
  (data[quantity] || []).forEach((y, i) => {
    const x = data[along][i];
    if (y === null || x === null || (home.y.log && y <= 0)) return;
    const se = quantity === "elbo" ? data.elbo_se[i] || 0 : 0;
    points.push({ i, x, y, se, low: y - 2 * se, high: y + 2 * se });
  });
  if (points.length < 2) return;
  const px = (v) => left + share(view.x, v) * width;
  const py = (v) => top + (1 - share(view.y, v)) * height;
  const place = (v) => Math.max(-1e5, Math.min(1e5, Math.round(v * 10) / 10));

  const holder = svg.parentElement;
  const over = document.createElement("div");
  over.className = "over";
  over.tabIndex = 0;
  over.setAttribute("role", "group");
  over.setAttribute("aria-label", `${$("title", svg).textContent}. Arrow keys read out, plus and minus zoom, 0 goes back.`);
  const box = svg.viewBox.baseVal;
  const percent = (v, whole) => `${(100 * v) / whole}%`;
  Object.assign(over.style, {
    left: percent(left, box.width), top: percent(top, box.height), width: percent(width, box.width), height: percent(height, box.height),
  });
  const readout = document.createElement("div");
  readout.className = "readout";
  readout.hidden = true;
  readout.setAttribute("aria-live", "polite");
  const cross = make("line", { class: "cross", y1: top, y2: top + height, visibility: "hidden" });
  const here = make("circle", { class: "here", r: 4, visibility: "hidden" });
  const drag = make("rect", { class: "drag", y: top, height, visibility: "hidden" });
  svg.append(drag, cross, here);
  holder.append(over, readout);

  const visible = () => points.filter((p) => p.x >= view.x.low && p.x <= view.x.high);
  /* What can be seen, and one more point on each side. */
  const nearby = () => {
    const first = points.findIndex((p) => p.x >= view.x.low);
    const after = points.findIndex((p) => p.x > view.x.high);
    return points.slice(Math.max(0, first - 1), after < 0 ? points.length : after + 1);
  };
  const path = (list) => {
    let d = "";
    list.forEach((p, i) => {
      const x = place(px(p.x));
      if (stairs === "1" && i) d += `L${x} ${place(py(list[i - 1].y))}`;
      d += `${i ? "L" : "M"}${x} ${place(py(p.y))}`;
    });
    return d;
  };
  const draw = () => {
    const inner = $(".plot", svg);
    const near = nearby();
    const calm = stairs === "1" ? null : runningMedian(near);
    $(".line", inner).setAttribute("d", path(calm || near));
    const raw = $(".raw", inner);
    if (raw) raw.setAttribute("d", calm ? path(near) : "");
    const band = $(".band", inner);
    if (band) {
      const up = (calm || near).map((p) => `${place(px(p.x))} ${place(py(p.high))}`);
      const down = (calm || near).map((p) => `${place(px(p.x))} ${place(py(p.low))}`).reverse();
      band.setAttribute("d", `M${up.concat(down).join("L")}Z`);
    }
    const text = (x, y, anchor, words) => {
      const element = make("text", { class: "tick", x, y, "text-anchor": anchor });
      element.textContent = words;
      return element;
    };
    const labelled = (a, target) => {
      const found = marks(a, target);
      return found.map((v, i) => [v, a.log ? plain(v, 3) : label(v, Math.abs(found[i ? i : 1] - found[i ? i - 1 : 0]) || Math.abs(v))]);
    };
    const below = top + height;
    $(".axis-x", svg).replaceChildren(
      make("line", { class: "base", x1: left, x2: left + width, y1: below, y2: below }),
      ...labelled(view.x, 5).flatMap(([v, words]) => [
        make("line", { class: "base", x1: px(v), x2: px(v), y1: below, y2: below + 4 }),
        text(px(v), below + 16, "middle", words),
      ]),
    );
    $(".axis-y", svg).replaceChildren(
      ...labelled(view.y, 5).flatMap(([v, words]) => [
        make("line", { class: "grid", x1: left, x2: left + width, y1: py(v), y2: py(v) }),
        text(left - 7, py(v) + 4, "end", words),
      ]),
    );
    const moved = view !== home;
    all(".rule", svg).forEach((g) => {
      const at = Number(g.dataset.at);
      const shift = py(at) - (top + (1 - share(home.y, at)) * height);
      g.setAttribute("transform", `translate(0 ${place(shift)})`);
    });
    all(".stage-mark", svg).forEach((g) => {
      const at = Number(g.dataset.at);
      const inside = at >= view.x.low && at <= view.x.high;
      g.setAttribute("visibility", inside ? "visible" : "hidden");
      g.setAttribute("transform", `translate(${place(px(at) - (left + share(home.x, at) * width))} 0)`);
    });
    const note = $(".note", svg);
    if (note) note.setAttribute("visibility", moved ? "hidden" : "visible");
    buttons.forEach(([name, button]) => { if (name !== "+") button.disabled = !moved; });
  };
  const zoom = (low, high) => {
    low = Math.max(home.x.low, low);
    high = Math.min(home.x.high, high);
    if (!(high - low < 0.999 * (home.x.high - home.x.low))) return reset();
    const inside = points.filter((p) => p.x >= low && p.x <= high);
    if (inside.length < 2) return;
    let bottom = Math.min(...inside.map((p) => p.low));
    let upper = Math.max(...inside.map((p) => p.high));
    if (home.y.log) { bottom /= 1.15; upper *= 1.15; }
    else { const pad = 0.06 * (upper - bottom) || 0.5; bottom -= pad; upper += pad; }
    if (quantity === "components") bottom = 0;
    view = { x: { ...home.x, low, high }, y: { ...home.y, low: bottom, high: upper } };
    hide();
    draw();
  };
  const reset = () => { view = home; hide(); draw(); };

  let current = null;
  const hide = () => {
    current = null;
    readout.hidden = true;
    [cross, here, drag].forEach((mark) => mark.setAttribute("visibility", "hidden"));
  };
  const show = (p) => {
    current = p;
    const x = px(p.x);
    const y = Math.max(top, Math.min(top + height, py(p.y)));
    cross.setAttribute("x1", x);
    cross.setAttribute("x2", x);
    here.setAttribute("cx", x);
    here.setAttribute("cy", y);
    [cross, here].forEach((mark) => mark.setAttribute("visibility", "visible"));
    const line = (name, words) => {
      const row = document.createElement("div");
      const bold = document.createElement("b");
      bold.textContent = words;
      row.append(`${name} `, bold);
      return row;
    };
    const names = { elbo: "ELBO", step_size: "step size", kl: "KL", components: "components", n_draws: "draws" };
    readout.replaceChildren(
      line(names[quantity], quantity === "elbo" ? withError(p.y, p.se) : plain(p.y, 4)),
      line("step", grouped(data.step[p.i])),
      line("evaluations", grouped(data.evaluations[p.i])),
      line("seconds", data.seconds[p.i] === null ? "–" : plain(data.seconds[p.i], 3)),
    );
    readout.hidden = false;
    const scale = svg.clientWidth / box.width;
    const toLeft = x > left + width / 2;
    readout.style.left = `${toLeft ? Math.max(0, x * scale - readout.offsetWidth - 12) : x * scale + 12}px`;
    const free = holder.clientHeight - readout.offsetHeight - 4;
    readout.style.top = `${Math.max(0, Math.min(free, y * scale - readout.offsetHeight / 2))}px`;
  };
  const xAt = (event) => {
    const bounds = over.getBoundingClientRect();
    return value(view.x, Math.max(0, Math.min(1, (event.clientX - bounds.left) / bounds.width)));
  };
  const nearest = (x) => {
    let low = 0;
    let high = points.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle].x < x) low = middle; else high = middle;
    }
    return x - points[low].x < points[high].x - x ? points[low] : points[high];
  };
  let from = null;
  over.addEventListener("pointermove", (event) => {
    const x = xAt(event);
    show(nearest(x));
    if (from === null) return;
    const [a, b] = [px(Math.min(from, x)), px(Math.max(from, x))];
    drag.setAttribute("x", a);
    drag.setAttribute("width", Math.max(0, b - a));
    drag.setAttribute("visibility", "visible");
  });
  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return show(nearest(xAt(event)));
    from = xAt(event);
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointerup", (event) => {
    const start = from;
    from = null;
    drag.setAttribute("visibility", "hidden");
    if (start === null) return;
    const end = xAt(event);
    if (Math.abs(px(end) - px(start)) > 6) zoom(Math.min(start, end), Math.max(start, end));
  });
  over.addEventListener("pointercancel", () => { from = null; hide(); });
  over.addEventListener("pointerleave", () => { if (from === null) hide(); });
  over.addEventListener("blur", hide);
  over.addEventListener("dblclick", reset);
  const by = (factor) => {
    const centre = current ? current.x : view.x.high;
    const span = (view.x.high - view.x.low) * factor;
    const low = Math.min(Math.max(home.x.low, centre - span / 2), home.x.high - span);
    zoom(low, low + span);
  };
  over.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    const seen = visible();
    if (step && seen.length) {
      const index = current ? seen.indexOf(current) : seen.length;
      show(seen[Math.max(0, Math.min(seen.length - 1, index + step))]);
    } else if (event.key === "+" || event.key === "=") by(0.5);
    else if (event.key === "-") by(2);
    else if (event.key === "0" || event.key === "Escape") reset();
    else return;
    event.preventDefault();
  });

  const bar = document.createElement("div");
  bar.className = "zoom";
  const name = $("title", svg).textContent;
  const buttons = [["−", "Zoom out", () => by(2)], ["+", "Zoom in", () => by(0.5)], ["Reset", "Reset zoom", reset]].map(
    ([text, what, action]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", `${what}: ${name}`);
      button.disabled = text !== "+";
      button.addEventListener("click", action);
      bar.append(button);
      return [text, button];
    },
  );
  holder.append(bar);
};
all("svg[data-quantity]").forEach(trace);
