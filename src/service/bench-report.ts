import { html, raw } from "hono/html";
import type { Calibration } from "../calibration.ts";
import type { Consistency, Measures, Slice, Verdict } from "../routing.ts";
import type { ToolSpec } from "../tool.ts";
import { bars, lines } from "./charts.ts";

type Html = ReturnType<typeof html>;
type Shown = Measures & {
  ordinary: Measures & { cases: number };
  consistency?: Consistency;
  slices?: Slice[];
};
type Row = Measures & { name: string; k: number | null; ordinary: Measures };

/** A stored result, as far as the page reads it. */
export interface BenchResult {
  id: string;
  catalog: string;
  suite: string | null;
  suite_hash: string;
  created_at: string;
  selector: string;
  revision: number;
  fingerprint: string;
  config_hash: string;
  arms: string;
  cases: number;
  by_k: Record<string, Shown>;
  by_budget?: Record<string, Shown>;
  ladder?: Row[];
  ablations?: Row[];
  verdicts?: Verdict[];
}

const rate = (value: number | null | undefined) =>
  value === null || value === undefined ? "—" : value.toFixed(3);
const CONFUSIONS_MAX = 30;

/** One self-contained page: no script, no request. */
export function reportPage(
  result: BenchResult,
  toolOf: (name: string) => ToolSpec | undefined,
  calibration: Calibration | undefined,
): string {
  const ks = Object.keys(result.by_k);
  const last = result.by_k[ks.includes("10") ? "10" : ks.at(-1)!]!;
  return String(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${result.suite ?? "Cases"} over ${result.catalog}</title>
          <style>
            ${raw(STYLE)}
          </style>
        </head>
        <body>
          <h1>${result.suite ?? "Cases"} over ${result.catalog}</h1>
          <p>
            ${result.cases} cases, ${result.created_at}, revision ${result.revision}, arms
            ${result.arms}, selection by ${result.selector}; suite ${result.suite_hash}, model
            ${result.fingerprint.slice(0, 12)}, configuration ${result.config_hash}.
          </p>
          ${verdicts(result.verdicts)}
          <h2>Recall by k</h2>
          ${lines(ks, [
            { name: "all cases", points: pointsOf(result, (shown) => shown) },
            { name: "with an ordinary tool", points: pointsOf(result, ({ ordinary }) => ordinary) },
          ])}
          ${rates(result)}
          <h2>Which stage lost the right tool</h2>
          ${bars(Object.entries(last.failure_profile).map(([label, value]) => ({ label, value })))}
          <h2>Confusions</h2>
          ${confusions(last, toolOf)} ${rungs("Ladder", result.ladder)}
          ${rungs("Each mechanism left out", result.ablations)}
          <h2>Latency of discovery</h2>
          ${bars(
            last.latency_ms.histogram.map(({ up_to, count }) => ({
              label: up_to === null ? "more" : `up to ${up_to} ms`,
              value: count,
            })),
          )}
          ${reliability(calibration)} ${slices(last.slices)}
        </body>
      </html>`,
  );
}

function pointsOf({ by_k }: BenchResult, of: (shown: Shown) => Measures) {
  return Object.values(by_k).flatMap((shown, x) => {
    const { tool_recall, intervals } = of(shown);
    if (tool_recall === null) return [];
    const [low, high] = intervals.tool_recall!;
    return [{ x, y: tool_recall, low, high }];
  });
}

const COLUMNS = [
  ["recall", "tool_recall"],
  ["all tools", "all_tools"],
  ["nDCG@10", "ndcg_10"],
  ["MRR", "mrr"],
  ["selection", "selection_accuracy"],
  ["abstention", "abstention_accuracy"],
  ["violations", "violation_rate"],
  ["success", "verified_success"],
] as const;

function rates({ by_k, by_budget = {} }: BenchResult): Html {
  const rows = [
    ...Object.entries(by_k).map(([k, shown]) => [`k = ${k}`, shown] as const),
    ...Object.entries(by_budget).map(([tokens, shown]) => [`${tokens} tokens`, shown] as const),
  ];
  return html`<table>
    <tr>
      <th></th>
      ${COLUMNS.map(([label]) => html`<th>${label}</th>`)}
      <th>of ordinary</th>
      <th>tokens</th>
      <th>p50 ms</th>
      <th>p99 ms</th>
    </tr>
    ${rows.map(
      ([label, shown]) =>
        html`<tr>
          <th>${label}</th>
          ${COLUMNS.map(([, name]) => cell(shown, name))}
          <td>${rate(shown.ordinary.tool_recall)}</td>
          <td>${shown.visible_tokens?.toFixed(0) ?? "—"}</td>
          <td>${rate(shown.latency_ms.p50)}</td>
          <td>${rate(shown.latency_ms.p99)}</td>
        </tr>`,
    )}
  </table>`;
}

function cell(shown: Measures, name: (typeof COLUMNS)[number][1]): Html {
  const interval = shown.intervals[name];
  return html`<td title="${interval ? `${rate(interval[0])} to ${rate(interval[1])}` : "no case"}">
    ${rate(shown[name])}
  </td>`;
}

function rungs(title: string, rows: readonly Row[] | undefined): Html {
  if (!rows) return html``;
  return html`<h2>${title}</h2>
    <table>
      <tr>
        <th></th>
        <th>recall</th>
        <th>of ordinary</th>
        <th>selection</th>
        <th>abstention</th>
        <th>violations</th>
        <th>tokens</th>
      </tr>
      ${rows.map(
        (row) =>
          html`<tr>
            <th>${row.name}</th>
            <td>${rate(row.tool_recall)}</td>
            <td>${rate(row.ordinary.tool_recall)}</td>
            <td>${rate(row.selection_accuracy)}</td>
            <td>${rate(row.abstention_accuracy)}</td>
            <td>${rate(row.violation_rate)}</td>
            <td>${row.visible_tokens?.toFixed(0) ?? "—"}</td>
          </tr>`,
      )}
    </table>`;
}

function confusions(shown: Shown, toolOf: (name: string) => ToolSpec | undefined): Html {
  const text = (name: string) => {
    const tool = toolOf(name);
    if (!tool) return html`<b>${name}</b>`;
    const list = (label: string, sentences: readonly string[]) =>
      sentences.map((sentence) => html`<br />${label} ${sentence}`);
    return html`<b>${name}</b><br />${tool.purpose}${list("use when", tool.use_when)}${list(
        "avoid when",
        tool.avoid_when,
      )}`;
  };
  const rows = shown.selection_confusions.slice(0, CONFUSIONS_MAX);
  if (rows.length === 0) return html`<p>None: what was available was chosen.</p>`;
  return html`<table>
    <tr>
      <th>count</th>
      <th>acceptable</th>
      <th>selected</th>
    </tr>
    ${rows.map(
      ({ acceptable, selected, count }) =>
        html`<tr>
          <td>${count}</td>
          <td>${acceptable.map((name) => html`<p>${text(name)}</p>`)}</td>
          <td>${selected === null ? "nothing" : text(selected)}</td>
        </tr>`,
    )}
  </table>`;
}

function verdicts(list: readonly Verdict[] | undefined): Html {
  if (!list) return html``;
  return html`<ul>
    ${list.map(
      ({ gate, passed, value }) =>
        html`<li class="${passed ? "passed" : "failed"}">
          ${passed ? "passed" : "failed"}: ${gate}, measured ${rate(value)}
        </li>`,
    )}
  </ul>`;
}

function reliability(calibration: Calibration | undefined): Html {
  if (!calibration) return html``;
  const bins = calibration.report.reliability.filter(({ tools }) => tools > 0);
  const labels = bins.map(({ predicted }) => rate(predicted));
  return html`<h2>Reliability of the probabilities in force</h2>
    ${lines(labels, [
      { name: "acceptable", points: bins.map(({ observed }, x) => ({ x, y: observed ?? 0 })) },
      { name: "predicted", points: bins.map(({ predicted }, x) => ({ x, y: predicted ?? 0 })) },
    ])}
    <p>Match floor ${calibration.floor}.</p>`;
}

function slices(list: readonly Slice[] | undefined): Html {
  if (!list || list.length === 0) return html``;
  return html`<h2>Slices</h2>
    <table>
      <tr>
        <th>by</th>
        <th>name</th>
        <th>cases</th>
        <th>recall</th>
        <th>selection</th>
      </tr>
      ${list.map(
        (slice) =>
          html`<tr>
            <td>${slice.by}</td>
            <td>${slice.name}</td>
            <td>${slice.cases}</td>
            <td>${rate(slice.rates.tool_recall)}</td>
            <td>${rate(slice.rates.selection_accuracy)}</td>
          </tr>`,
      )}
    </table>`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --soft: #d8d8d8; --a: #0b62c4; --b: #b3541e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #161616; --soft: #444; --a: #6db1ff; --b: #f0a070; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; } td, th { padding: .3rem .6rem; border-bottom: 1px solid var(--soft); text-align: left; vertical-align: top; } td p { margin: 0 0 .5rem; }
svg { max-width: 640px; width: 100%; } svg text { font-size: 11px; fill: var(--ink); } .grid { stroke: var(--soft); }
.s0 { stroke: var(--a); } .s1 { stroke: var(--b); } polyline { fill: none; stroke-width: 2; } circle { fill: var(--paper); stroke-width: 2; } .s0 text { fill: var(--a); stroke: none; } .s1 text { fill: var(--b); stroke: none; }
.bars div { display: flex; align-items: center; gap: .5rem; } .bars span { width: 9rem; } .bars b { background: var(--a); height: 1rem; min-width: 1px; max-width: 60%; } .bars i { font-style: normal; }
.failed { color: var(--b); font-weight: 600; }
`;
