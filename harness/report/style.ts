/**
 * The look of a report: one style sheet, inlined. Readable on paper, on a phone and in the dark, without scripts.
 */
export const style = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #57636f; --paper: #fff; --panel: #f5f7f9; --line: #d5dbe1; --good: #00704f; --bad: #b3261e; --unsure: #8a5a00; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a3afba; --paper: #14191f; --panel: #1d242c; --line: #36414c; --good: #4cc79a; --bad: #ff8a80; --unsure: #f0b849; --link: #7db8f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1060px; padding: 24px 20px 60px; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 24px; line-height: 1.35; margin: 4px 0 12px; font-weight: 650; }
h2 { font-size: 18px; margin: 36px 0 8px; border-top: 1px solid var(--line); padding-top: 18px; }
h3 { font-size: 15px; margin: 22px 0 6px; }
a { color: var(--link); }
.kicker { color: var(--soft); font-size: 13px; letter-spacing: .02em; margin: 0; }
.good { color: var(--good); } .bad { color: var(--bad); } .unsure { color: var(--unsure); }
.badge { display: inline-block; padding: 0 8px; border: 1px solid currentColor; border-radius: 10px; font-size: 12.5px; white-space: nowrap; }
table { border-collapse: collapse; margin: 8px 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); font-size: 13px; }
td.number, th.number { text-align: right; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; overflow-x: auto; font-size: 13px; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .92em; }
ol.why { padding-left: 22px; } ol.why li { margin: 3px 0; } ol.why .at { color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; }
.ref { color: var(--soft); font-size: 12px; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; margin: 12px 0; }
.card > :first-child { margin-top: 0; } .card > :last-child { margin-bottom: 0; }
.note { color: var(--soft); font-size: 13.5px; }
figure { margin: 14px 0; overflow-x: auto; }
figcaption { font-size: 13.5px; color: var(--soft); } figcaption b { color: var(--ink); } .rule { color: var(--bad); }
svg { display: block; max-width: none; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .axis, svg .role { fill: var(--soft); font-size: 11px; } svg .node { font-weight: 600; }
svg .ground { stroke: var(--line); } svg .tick { stroke: var(--line); stroke-dasharray: 2 3; }
svg .cell { stroke: var(--paper); } svg .epoch { fill: #111; font-size: 11px; } svg .acknowledged { fill: #111; }
svg .lost { stroke: #111; stroke-width: 2.4; fill: none; } svg .diverged { fill: none; stroke: #b3261e; stroke-width: 2.6; }
svg .caret { fill: var(--soft); } svg .caret.hw { fill: var(--link); } svg .caret-name { font-size: 10.5px; fill: var(--soft); }
svg .cut { stroke: #b3261e; stroke-width: 3; fill: none; } svg .cut-head { fill: #b3261e; } svg .kept { stroke: #00704f; stroke-width: 2.5; fill: none; }
svg .down .cell { opacity: .45; }
svg .fault { fill: #d55e00; fill-opacity: .55; } svg .fault.idle { fill: var(--soft); fill-opacity: .25; } svg .fault-label { font-size: 11px; }
svg .span.follower { fill: var(--line); } svg .span.down { fill: none; stroke: var(--bad); stroke-dasharray: 3 2; } svg .election { stroke: var(--ink); stroke-width: 1.2; } svg .acks { fill: var(--good); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 12.5px; color: var(--soft); padding: 0; list-style: none; }
details summary { cursor: pointer; color: var(--link); }
@media print { body { max-width: none; } details > * { display: block; } }
`;
