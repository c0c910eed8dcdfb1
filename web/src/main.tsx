import { render } from "preact";
import type { ComponentChild } from "preact";
import { App } from "./app";
import { ComparisonPage } from "./comparison";
import type { Comparison } from "./comparison";
import type { PageData } from "./data";
import { pageData } from "./data";
import { LivePage } from "./live";
import type { Live } from "./live-data";
import { FaultPage, IndexPage } from "./server";
import type { Index } from "./server";
import "./style.css";

/** What the page shows: a report, or a page of `tautwire serve`. */
type Shown =
  | { page: "index"; shown: Index }
  | { page: "comparison"; shown: Comparison }
  | { page: "live"; shown: Live }
  | { page: "fault"; shown: { title: string; words: string } }
  | ({ page?: undefined } & PageData);

function content(data: Shown): [string, ComponentChild] {
  switch (data.page) {
    case "index":
      return ["Tautwire runs", <IndexPage shown={data.shown} />];
    case "comparison":
      return [`${data.shown.before.name} – ${data.shown.after.name} – Tautwire`, <ComparisonPage shown={data.shown} />];
    case "live":
      return [`${data.shown.name} – Tautwire`, <LivePage shown={data.shown} />];
    case "fault":
      return [`${data.shown.title} – Tautwire`, <FaultPage shown={data.shown} />];
    default:
      return [`${data.network.name} – Tautwire report`, <App data={data} />];
  }
}

const data = pageData() as Shown | undefined;
const root = document.getElementById("app");
if (root) {
  if (data) {
    const [title, page] = content(data);
    document.title = title;
    render(page, root);
  } else {
    render(<p class="empty">This page holds no results: make it with “tautwire report RUN”.</p>, root);
  }
}
