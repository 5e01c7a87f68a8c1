"""How the notebook view of a workspace looks: on light and on dark pages, in Lab and elsewhere.

Text takes the colour of the page around it. The class stands twice, because JupyterLab has
rules of its own for tables in outputs, and the more specific one counts.
"""

from __future__ import annotations

STYLE = """
.sen-ws.sen-ws {
 font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.45;
 max-width:960px;overflow-x:auto;padding:2px 0 6px;
 h3 {margin:0;overflow-wrap:anywhere;font-size:18px;font-weight:600;line-height:1.3}
 h4 {margin:16px 0 4px;font-size:13px;font-weight:600}
 .sen-path {opacity:.65;overflow-wrap:anywhere}
 .sen-cards {display:flex;flex-wrap:wrap;gap:8px;margin:10px 0 0}
 .sen-card {border:1px solid rgba(128,128,128,.35);border-radius:6px;padding:6px 14px 7px;
  min-width:64px}
 .sen-card b {display:block;font-size:20px;font-weight:600;line-height:1.25;
  font-variant-numeric:tabular-nums}
 .sen-card.sen-error {border-left:4px solid #d0342c}
 .sen-card.sen-warning {border-left:4px solid #e0a11b}
 .sen-runs {flex:1 1 220px;max-width:360px}
 .sen-runs b {display:inline;margin-right:.3em}
 .sen-bar {display:flex;gap:2px;height:8px;margin:3px 0 4px;border-radius:4px;overflow:hidden}
 .sen-bar i {min-width:3px}
 .sen-legend {display:flex;flex-wrap:wrap;gap:2px 16px}
 .sen-legend i {display:inline-block;width:8px;height:8px;border-radius:2px;margin-right:5px}
 i.sen-graded {background:#3a8f6f}
 i.sen-gated {background:#e0a11b}
 i.sen-executed {background:#7b9fd1}
 i.sen-errored {background:#d0342c}
 i.sen-ungraded {background:#8c8c8c}
 table {border-collapse:collapse;margin:0;font-size:13px;table-layout:auto}
 tbody tr:nth-child(n) {background:none}
 th, td {text-align:left;vertical-align:top;padding:4px 18px 4px 0;line-height:1.4;
  white-space:normal;border:0;border-bottom:1px solid rgba(128,128,128,.25);
  overflow-wrap:anywhere}
 th {font-weight:400;opacity:.65;white-space:nowrap}
 .sen-n.sen-n {text-align:right;font-variant-numeric:tabular-nums}
 td.sen-tight {white-space:nowrap}
 .sen-pill {display:inline-block;border-radius:9px;padding:0 8px;white-space:nowrap}
 .sen-pill.sen-error {background:#c62f28;color:#fff}
 .sen-pill.sen-warning {background:#f2c14e;color:#2b2100}
 .sen-pill.sen-info {border:1px solid rgba(128,128,128,.5)}
 code {font-family:var(--jp-code-font-family,monospace);font-size:12px}
 dl {display:grid;grid-template-columns:max-content auto;gap:3px 18px;margin:0}
 dt, dd {margin:0;font-weight:400}
}
"""
"""The style sheet; nested, so that it touches nothing outside of the view."""
