"""The style sheet of the page; no < and no &, which would have to be escaped."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --raised: #f6f7f8; --ink: #1b1f24; --soft: #59636e; --rule: #d8dde2; --grid: #eaedf0;
  --shadow: rgba(0, 0, 0, 0.16);
  --accent: #0066a8; --hill: rgba(0, 102, 168, 0.22);
  --ahead: 0, 114, 178; --behind: 222, 110, 20;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #13171b; --raised: #1b2026; --ink: #e4e7ea; --soft: #98a2ad; --rule: #3a424b; --grid: #252b32;
    --shadow: rgba(255, 255, 255, 0.16);
    --accent: #62b5ea; --hill: rgba(98, 181, 234, 0.26);
    --ahead: 42, 132, 196; --behind: 196, 104, 28;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums lining-nums;
}
main { max-width: 968px; margin: 0 auto; padding: 40px 24px 64px; }
header { border-bottom: 2px solid var(--ink); padding-bottom: 18px; }
.kicker { margin: 0; font-size: 12px; letter-spacing: 0.09em; text-transform: uppercase; color: var(--soft); }
h1, h2 { font: 600 1em/1.2 Charter, "Iowan Old Style", Georgia, "Times New Roman", serif; }
h1 { font-size: 34px; margin: 4px 0 14px; letter-spacing: -0.01em; }
h2 { font-size: 22px; margin: 0 0 6px; }
section { margin-top: 44px; }
.lead { font-size: 18px; line-height: 1.45; margin: 0; max-width: 46em; overflow-wrap: anywhere; }
.facts { color: var(--soft); margin: 10px 0 0; }
.caption { color: var(--soft); font-size: 13.5px; margin: 0 0 14px; max-width: 54em; overflow-wrap: anywhere; }
.scrolled {
  /* shadows at the edges beyond which there is more: covers that scroll along hide them at the ends */
  overflow-x: auto; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll;
  background-image: linear-gradient(to right, var(--paper) 40%, transparent),
    linear-gradient(to left, var(--paper) 40%, transparent),
    linear-gradient(to right, var(--shadow), transparent), linear-gradient(to left, var(--shadow), transparent);
  background-position: left, right, left, right;
  background-size: 36px 100%, 36px 100%, 12px 100%, 12px 100%;
}
.scrolled:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; min-width: 600px; max-width: 920px; height: auto; }
svg text { fill: var(--ink); font-size: 13px; }
svg .tick { fill: var(--soft); font-size: 12px; }
svg .faint { fill: var(--soft); }
.grid { stroke: var(--grid); }
.axis { stroke: var(--soft); }
.guide { stroke: var(--rule); stroke-dasharray: 1 4; }
.reference { stroke: var(--ink); stroke-dasharray: 5 4; }
.bar { stroke: var(--accent); stroke-width: 2; }
.dot { fill: var(--accent); stroke: var(--accent); stroke-width: 1.5; }
.dot.hollow { fill: var(--paper); }
.arrow { fill: var(--accent); }
.hill { fill: var(--hill); stroke: var(--accent); stroke-width: 1; stroke-linejoin: round; }
.mean { stroke: var(--ink); stroke-width: 1.5; }
.front { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-opacity: 0.6; }
.leader { stroke: var(--soft); stroke-width: 0.8; }
table { border-collapse: separate; border-spacing: 0; font-size: 13.5px; line-height: 1.35; }
th { font-weight: 600; }
th, td { text-align: right; padding: 6px 8px; vertical-align: top; white-space: nowrap; }
thead th { vertical-align: bottom; font-size: 12px; color: var(--soft); white-space: normal; }
thead th { border-bottom: 1.5px solid var(--ink); }
tbody th, tbody td { border-bottom: 1px solid var(--grid); }
tbody tr:last-child th, tbody tr:last-child td { border-bottom-color: var(--rule); }
td small { display: block; font-size: 11.5px; color: var(--soft); }
.left, th.name { text-align: left; }
th.name { font-weight: 500; position: sticky; left: 0; background: var(--paper); }
th.name bdi { display: block; width: max-content; max-width: 15em; white-space: normal; overflow-wrap: anywhere; }
td.rank, th.rank { color: var(--soft); padding-left: 0; width: 1.8em; }
.figures { width: 100%; }
.cross tbody tr td { border: 1px solid var(--paper); }
.cross td { text-align: center; vertical-align: middle; min-width: 46px; padding: 7px 4px; }
.cross td.rank { text-align: right; padding: 7px 9px 7px 0; min-width: 0; }
.cross th.name { vertical-align: middle; }
.cross .column { text-align: center; }
.cross tr th, .cross tbody tr th, .cross tbody tr td.rank { border: 0; }
.ahead { background: rgba(var(--ahead), var(--tint)); }
.behind { background: rgba(var(--behind), var(--tint)); }
.itself { background: var(--raised); }
.unknown { color: var(--soft); }
.reason { white-space: normal; min-width: 16em; max-width: 44em; overflow-wrap: anywhere; }
details { margin-top: 16px; }
summary { cursor: pointer; color: var(--accent); font-size: 13.5px; margin-bottom: 10px; }
.method { font-size: 13px; color: var(--soft); }
.method p { margin: 0 0 8px; max-width: 62em; }
.method b, .method dd { color: var(--ink); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); gap: 10px 24px; margin: 10px 0 20px; }
dt { font-size: 12px; }
dd { margin: 0; overflow-wrap: anywhere; }
.agents { margin-bottom: 18px; }
.agents th, .agents td { text-align: left; padding: 3px 18px 3px 0; white-space: normal; overflow-wrap: anywhere; }
code { font: 12.5px/1.4 ui-monospace, Menlo, Consolas, monospace; }
@media (min-width: 1016px) {
  /* the widest table may reach into the right margin of the page */
  #figures .scrolled { width: max-content; min-width: 100%; max-width: calc(50vw + 436px); }
}
@media (max-width: 600px) {
  th.name bdi { max-width: 9em; }
  main { padding: 24px 16px 48px; }
  h1 { font-size: 27px; }
  .lead { font-size: 16px; }
  dl { grid-template-columns: 1fr 1fr; }
}
@media print {
  main { max-width: none; padding: 0; }
  section { break-inside: avoid; }
  .scrolled { overflow: visible; }
  svg { min-width: 0; }
}
"""
