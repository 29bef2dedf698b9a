/** The one style sheet of every HTML report: no font, image or script is loaded from anywhere. */
export const styleSheet = `
:root{color-scheme:light dark;--ink:#1c2024;--soft:#5b6470;--line:#d9dde2;--paper:#fff;--tint:#f5f6f8;--accent:#0b57a4;
--s0:#0b57a4;--s1:#b3471b;--s2:#1d7a4f;--s3:#8a3ea8;--s4:#8a6a00;--s5:#a3244e}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#9aa4b0;--line:#353b43;--paper:#15181c;--tint:#1e2227;--accent:#7db7f0;
--s0:#7db7f0;--s1:#f0a07a;--s2:#74cfa0;--s3:#d09be6;--s4:#dcc064;--s5:#f08fb0}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:96rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.7rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 .35rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;line-height:1.3;margin:2.6rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.8rem 0 .4rem}h4{font-size:.95rem;margin:1.4rem 0 .4rem}
p,ul{max-width:44rem;margin:.6rem 0}ul{padding-left:1.2rem}li{margin:.25rem 0}
p,li,summary{overflow-wrap:anywhere}
.subtitle{color:var(--soft);margin:0 0 1.4rem}
.scroll{overflow-x:auto;margin:1rem 0 1.4rem}
.scroll:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:3px}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums lining-nums}
caption{text-align:left;color:var(--soft);padding:0 0 .45rem;font-size:.875rem}
th,td{padding:.42rem .9rem .42rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
thead th{font-weight:600;border-bottom:2px solid var(--line);vertical-align:bottom}
thead th.right{white-space:normal;min-width:5.2rem}
tbody th{font-weight:500;min-width:8.5rem}
tbody th code{white-space:nowrap}
td{max-width:34rem;overflow-wrap:anywhere}
th.right,td.right{text-align:right;white-space:nowrap}
td small,th small{display:block;color:var(--soft);font-size:.8rem;line-height:1.35;font-weight:400}
code{font:.875em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--tint);border-radius:3px;padding:.08em .3em;overflow-wrap:anywhere;unicode-bidi:isolate}
pre{font:.84rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--tint);border-left:3px solid var(--line);margin:.7rem 0;padding:.8rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
details{margin:.5rem 0;border-bottom:1px solid var(--line);padding-bottom:.5rem}
summary{cursor:pointer;padding:.3rem 0}
figure{margin:1.2rem 0 1.6rem;max-width:44rem}figcaption{color:var(--soft);font-size:.875rem;margin-top:.4rem}
svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font-size:12px;font-family:inherit}
svg .axis,svg .label{fill:var(--ink)}svg .grid{stroke:var(--line);stroke-width:1}svg .interval{stroke:currentColor;stroke-width:1.5}svg circle{fill:currentColor}svg .reference circle{fill:var(--paper);stroke:currentColor;stroke-width:2}
svg .bar{fill:var(--accent)}svg .open{fill:var(--accent);opacity:.35}svg .track{fill:var(--tint)}
.series-0{color:var(--s0)}.series-1{color:var(--s1)}.series-2{color:var(--s2)}.series-3{color:var(--s3)}.series-4{color:var(--s4)}.series-5{color:var(--s5)}
@media (max-width:30rem){main{padding:1.5rem .9rem 3rem}h1{font-size:1.4rem}table{font-size:.84rem}th,td{padding-right:.65rem}}
@media print{:root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--tint:#f4f4f4}body{font-size:10pt}main{max-width:none;padding:0}.scroll{overflow:visible}tr,figure{break-inside:avoid}h2,h3{break-after:avoid}thead{display:table-header-group}}
`;
