"""How the notebook view of a workspace looks, beside what all views have in common."""

from __future__ import annotations

STYLE = """
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
 td.sen-tight {white-space:nowrap}
 .sen-pill.sen-error {background:#c62f28;color:#fff}
 .sen-pill.sen-info {border:1px solid rgba(128,128,128,.5)}
 code {font-family:var(--jp-code-font-family,monospace);font-size:12px}
 dl {display:grid;grid-template-columns:max-content auto;gap:3px 18px;margin:0}
 dt, dd {margin:0;font-weight:400}
"""
