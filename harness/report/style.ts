/**
 * The look of a report: one style sheet, inlined. It serves wide and narrow screens, light and dark, and paper.
 */
export const style = `
:root { color-scheme: light dark; --ink: #17212b; --soft: #55616e; --paper: #ffffff; --panel: #f4f6f8; --line: #d3dae1; --bed: #eef2f5; --good: #00684a; --bad: #b3261e; --unsure: #805200; --link: #0a58a6; --tide: #1f78c8; --fault: #e8a56b; --acks: #4d9f83; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ecf1; --soft: #a7b3bf; --paper: #12171d; --panel: #1b222a; --line: #37424e; --bed: #202932; --good: #52cba0; --bad: #ff8f86; --unsure: #f0b849; --link: #83bcf8; --tide: #4ba3f0; --fault: #a8653a; --acks: #3f8a70; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 1400px; margin: 0 auto; padding: 28px 28px 64px; }
h1 { font-size: 25px; line-height: 1.32; margin: 6px 0 0; font-weight: 650; max-width: 60em; text-wrap: pretty; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 44px 0 10px; line-height: 1.3; overflow-wrap: anywhere; }
h3 { font-size: 16px; margin: 22px 0 8px; overflow-wrap: anywhere; }
h4, .act h3 { font-size: 14.5px; margin: 0 0 2px; font-weight: 650; }
.card h4, .card h5 { font-size: 13px; margin: 14px 0 4px; font-weight: 650; color: var(--soft); }
p { margin: 6px 0; overflow-wrap: anywhere; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .92em; }
.opening { border-left: 5px solid var(--unsure); padding: 2px 0 4px 18px; }
.opening.good { border-color: var(--good); } .opening.bad { border-color: var(--bad); }
.kicker { color: var(--soft); font-size: 13.5px; margin: 0; overflow-wrap: anywhere; } .kicker b { color: var(--ink); }
.good { color: var(--good); } .bad { color: var(--bad); } .unsure { color: var(--unsure); }
.badge { display: inline-block; padding: 0 8px; border: 1px solid currentColor; border-radius: 10px; font-size: 12.5px; line-height: 1.5; font-weight: 500; white-space: nowrap; max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: text-bottom; line-height: 1.4; }
.badge.none { color: var(--soft); }
.guarantees { display: flex; flex-wrap: wrap; gap: 6px 20px; padding: 0; margin: 20px 0 4px; list-style: none; font-size: 14px; }
.figures { display: flex; flex-wrap: wrap; gap: 10px 34px; margin: 16px 0 0; } .figures div { display: flex; flex-direction: column-reverse; }
.figures dt { color: var(--soft); font-size: 13px; } .figures dd { margin: 0; font-size: 21px; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.25; }
.notes { margin: 18px 0 0; padding: 10px 14px 10px 30px; background: var(--panel); border-radius: 6px; font-size: 13.5px; overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: 13.5px; max-width: 70em; }
.lead { font-size: 14px; margin: 0 0 12px; }
.ref { color: var(--soft); font-size: 12px; overflow-wrap: anywhere; }
.at { color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; font-weight: 400; white-space: nowrap; }
.scroll { overflow-x: auto; } .scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; margin: 8px 0; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 18px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; max-width: 46em; overflow-wrap: break-word; } td a { white-space: nowrap; }
thead th { font-weight: 600; color: var(--soft); font-size: 12.5px; white-space: nowrap; } tbody th { font-weight: 650; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; } tr.idle td { color: var(--soft); }
.told { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 32px; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 14px 18px; margin: 0 0 14px; font-size: 14px; }
.card > :first-child { margin: 0 0 4px; font-size: 15px; color: var(--ink); } .kind { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.card > p:last-child { margin-bottom: 0; } .labels { display: flex; flex-wrap: wrap; gap: 6px; margin: 0; } .labels:empty { display: none; }
.cards { columns: 2 460px; column-gap: 18px; } .cards .card { break-inside: avoid; }
ol.why, ol.saw, ul.follows { padding-left: 22px; margin: 4px 0; } ol.why li, ol.saw li { margin: 4px 0; overflow-wrap: anywhere; }
.fault-step { color: var(--unsure); } .after { color: var(--unsure); }
.act { margin: 0 0 14px; break-inside: avoid; }
.mark { display: inline-block; min-width: 19px; height: 19px; padding: 0 4px; border-radius: 10px; background: var(--ink); color: var(--paper); font-size: 12px; line-height: 19px; text-align: center; }
.detail { color: var(--soft); font-size: 13.5px; margin: 0 0 2px; padding-left: 25px; }
.stills { display: flex; flex-wrap: wrap; gap: 6px 26px; }
figure { margin: 6px 0; min-width: 0; max-width: 100%; overflow-x: auto; } figcaption { font-size: 13px; color: var(--soft); margin: 2px 0; }
.time { margin-top: 10px; } .time figcaption { margin: 12px 0 2px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 12.5px; color: var(--soft); padding: 0; margin: 4px 0 14px; list-style: none; } .legend svg { display: inline-block; vertical-align: -2px; }
@media (min-width: 1240px) { .alone .film { display: grid; grid-template-columns: repeat(auto-fill, minmax(560px, 1fr)); column-gap: 26px; } .alone .film > .legend, .alone .film > .note { grid-column: 1 / -1; } }
.film .legend, .act > h3, .act > h4, .act > p { width: 0; min-width: 100%; }
.sides { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px 40px; } .side h3 { margin-top: 8px; }
.side-name { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.commands dt { font-size: 13.5px; color: var(--soft); margin-top: 10px; } .commands dd { margin: 0; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 9px 12px; margin: 3px 0; overflow-x: auto; font-size: 13px; } pre code { font-size: inherit; }
details { margin: 10px 0; } summary { cursor: pointer; color: var(--link); font-size: 14px; } summary h2 { display: inline; font-size: 17px; } details.partition { margin-top: 28px; }
@media (min-width: 1240px) { .told { grid-template-columns: minmax(0, max-content) minmax(400px, 1fr); } .told.alone { grid-template-columns: minmax(0, 1fr); } .sides { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
svg { display: block; } svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .axis, svg .role { fill: var(--soft); font-size: 11px; } svg .node { font-weight: 650; } svg .small { font-size: 10px; }
svg .bed { fill: var(--bed); } svg .held { fill: var(--line); }
svg .cell { stroke: none; } svg .cell.diverged, .legend .diverged { stroke: var(--bad); stroke-width: 2.5; }
svg .value { fill: #10161c; font-weight: 700; } svg .epoch { fill: #10161c; font-size: 10px; }
svg .acknowledged { fill: #10161c; } .legend svg .acknowledged { fill: var(--ink); } svg .pending { fill: none; stroke: #10161c; stroke-width: 1; }
svg .lost { stroke: #a3150e; stroke-width: 2; stroke-opacity: .85; fill: none; } .legend svg .lost { stroke: var(--bad); }
svg .ghost rect, svg .ghost path { fill: none; stroke: var(--soft); stroke-dasharray: 3 2; } svg .ghost text { fill: var(--soft); text-decoration: line-through; } svg .ghost .small { font-size: 10px; }
svg .tide { fill: var(--tide); } svg .caret path { fill: var(--ink); } svg .caret text { font-size: 11px; } svg .caret .stem { fill: none; stroke: var(--ink); stroke-dasharray: 2 2; }
svg .caret.hw path { fill: var(--tide); } svg .caret.hw text { fill: var(--link); } svg .caret.hw .stem { stroke: var(--tide); }
svg .cut .shaft { stroke: var(--bad); stroke-width: 3; } svg .cut .head { fill: var(--bad); } svg .cut .edge { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; } svg .cut text { fill: var(--bad); font-size: 11.5px; font-weight: 600; }
svg .keep .shaft { stroke: var(--good); stroke-width: 2.2; fill: none; } svg .keep .edge { stroke: var(--good); stroke-width: 1.5; stroke-dasharray: 4 3; } svg .keep text { fill: var(--good); font-size: 11.5px; font-weight: 600; }
svg .lane.down .cell, svg .lane.paused .cell, svg .lane.stopped .cell { fill-opacity: .4; } svg .lane.down .value, svg .lane.paused .value, svg .lane.stopped .value, svg .lane.down .epoch, svg .lane.paused .epoch, svg .lane.stopped .epoch { fill: var(--ink); }
svg .lane.down .role:nth-of-type(2), svg .lane.paused .role:nth-of-type(2) { fill: var(--bad); }
svg .tick { stroke: var(--line); } svg .rule-line { stroke: var(--line); fill: none; } svg .zoom { fill: var(--tide); fill-opacity: .12; }
svg .phase { fill: var(--line); } svg .phase.load { fill: var(--soft); } svg .phase.reading { fill: var(--soft); }
svg .fault { fill: var(--fault); } svg .fault.idle { fill: none; stroke: var(--soft); stroke-dasharray: 3 2; } svg .fault-label { font-size: 11px; }
svg .on-tint { font-size: 11px; fill: #10161c; } svg .on-tint.none { fill: var(--bad); } svg .nobody { fill: none; stroke: var(--bad); }
svg .span.follower { opacity: .75; } svg .outage { fill: var(--paper); stroke: var(--bad); } svg .outage.down { stroke-dasharray: none; } svg .outage.paused { stroke-dasharray: 4 2; } svg .outage-label { font-size: 11px; fill: var(--bad); }
svg .fenced { fill: var(--bad); } svg .cut-mark { fill: var(--bad); stroke: var(--paper); stroke-width: 1; } svg .election { stroke: var(--ink); stroke-width: 1; fill: none; } svg .election.unclean { stroke: var(--bad); stroke-width: 2; }
svg .acks { fill: var(--acks); } svg .fails { fill: var(--bad); } .legend svg .fails { fill: var(--bad); }
svg .act-mark path { stroke: var(--ink); stroke-dasharray: 1 3; fill: none; } svg .act-mark circle { fill: var(--ink); } svg .act-mark text { fill: var(--paper); font-size: 11px; }
svg .interval { stroke-width: 3; fill: none; } svg .interval.good { stroke: var(--good); } svg .interval.bad { stroke: var(--bad); } svg .rate.good { fill: var(--good); } svg .rate.bad { fill: var(--bad); }
@media (max-width: 640px) { main { padding: 18px 14px 40px; } h1 { font-size: 20px; } .opening { padding-left: 12px; } .card { padding: 12px; } }
@media print { main { max-width: none; padding: 0; } body { font-size: 12px; } .scroll, figure { overflow: visible; } svg { max-width: 100%; height: auto; } .sides, .told { grid-template-columns: minmax(0, 1fr); } pre { white-space: pre-wrap; } details::details-content { content-visibility: visible; block-size: auto; } .card, tr, figure { break-inside: avoid; } h2, h3, h4 { break-after: avoid; } svg rect, svg circle { print-color-adjust: exact; } }
`;
