import { render } from "preact";
import { App } from "./app";
import { pageData } from "./data";
import "./style.css";

const data = pageData();
const root = document.getElementById("app");
if (root) {
  if (data) {
    document.title = `${data.network.name} – Tautwire report`;
    render(<App data={data} />, root);
  } else {
    render(<p class="empty">This page holds no results: make it with “tautwire report RUN”.</p>, root);
  }
}
