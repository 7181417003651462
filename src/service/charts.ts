import { html, raw } from "hono/html";

type Html = ReturnType<typeof html>;
const WIDTH = 520;
const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 28;
const TOP = 10;

export interface Point {
  x: number;
  y: number;
  low?: number;
  high?: number;
}

const round = (value: number) => value.toFixed(1);

/** Lines over labelled positions, y from 0 to 1, with intervals as whiskers. */
export function lines(
  labels: readonly string[],
  series: readonly { name: string; points: readonly Point[] }[],
): Html {
  const step = (WIDTH - LEFT - 20) / Math.max(1, labels.length - 1);
  const x = (index: number) => LEFT + index * step;
  const y = (value: number) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      html`<line
          class="grid"
          x1="${LEFT}"
          x2="${WIDTH - 10}"
          y1="${y(value)}"
          y2="${y(value)}"
        /><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  );
  const drawn = series.map(({ name, points }, i) => {
    const path = points.map((point) => `${round(x(point.x))},${round(y(point.y))}`).join(" ");
    return html`<g class="s${i}"
      ><polyline points="${path}" />${points.map(
        (point) =>
          html`${
              point.low === undefined
                ? ""
                : html`<line
                    x1="${round(x(point.x))}"
                    x2="${round(x(point.x))}"
                    y1="${round(y(point.low))}"
                    y2="${round(y(point.high!))}"
                  />`
            }<circle cx="${round(x(point.x))}" cy="${round(y(point.y))}" r="3.5"
              ><title>${name}: ${point.y.toFixed(3)}</title></circle
            >`,
      )}<text x="${WIDTH - 14}" y="${TOP + 14 + i * 16}" text-anchor="end">${name}</text></g
    >`;
  });
  const ticks = labels.map(
    (label, i) => html`<text x="${x(i)}" y="${HEIGHT - 8}" text-anchor="middle">${label}</text>`,
  );
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${grid}${ticks}${drawn}</svg>`;
}

/** One bar a row, its length a share of the largest. */
export function bars(rows: readonly { label: string; value: number; shown?: string }[]): Html {
  const largest = Math.max(1e-9, ...rows.map(({ value }) => value));
  return html`<div class="bars">
    ${rows.map(
      ({ label, value, shown }) =>
        html`<div>
          <span>${label}</span><b style="width:${raw(((100 * value) / largest).toFixed(1))}%"></b
          ><i>${shown ?? value}</i>
        </div>`,
    )}
  </div>`;
}
