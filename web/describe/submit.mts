// Hands a program in, waits for its verdict and prints it, with a client that is generated from the description of the
// API: node submit.mjs ADDRESS KEY PROBLEM LANGUAGE SOURCE
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/api.js";

declare const process: { argv: string[]; exit(status: number): never };
declare const console: { log(text: string): void; error(text: string): void };

const [baseUrl = "", key = "", problem = "", language = "", source = ""] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

function refused(error: components["schemas"]["Refusal"]): never {
  console.error(`${error.status} ${error.reason}: ${error.field ?? ""} ${error.detail}`);
  process.exit(1);
}

const made = await api.POST("/api/v1/submissions", {
  params: { header: { "Idempotency-Key": crypto.randomUUID() } },
  body: { problem, language, source },
});
if (made.error) refused(made.error);
for (;;) {
  const asked = await api.GET("/api/v1/submissions/{job_id}", {
    params: { path: { job_id: made.data.job_id }, query: { wait: 20 } },
  });
  if (asked.error) refused(asked.error);
  const { status, result } = asked.data;
  if (status === "FINISHED" || status === "CANCELLED" || status === "DEAD") {
    console.log(`${made.data.job_id} ${status} ${result?.verdict ?? "-"} ${result?.tests?.length ?? 0}`);
    break;
  }
}
