import type { IncomingMessage } from 'node:http';
import type { SandboxControl } from './control.ts';
import { FAULT, PRICE, Refused, read, TOKEN } from './control-input.ts';
import { json, parseJson, type Reply, readBody } from './http.ts';
import { findUserByEmail } from './users.ts';

type Controls = Readonly<Record<string, (body: unknown) => unknown>>;

/** Serves the controls over HTTP. */
export function createControlListener(
  control: SandboxControl,
): (request: IncomingMessage, path: string) => Promise<Reply> {
  const controls: Controls = {
    'POST /sandbox/faults': (body) => control.fail(read(FAULT, body)),
    'DELETE /sandbox/faults': () => control.clearFaults(),
    'GET /sandbox/calls': () => control.callCounts(),
    'DELETE /sandbox/calls': () => control.clearCalls(),
    'POST /sandbox/market': (body) => {
      const { symbol, price } = read(PRICE, body);
      if (!control.putPrice(symbol, price)) throw new Refused(`There is no instrument ${symbol}.`);
    },
    'POST /sandbox/reset': () => control.reset(),
    'POST /sandbox/token': (body) => {
      const wanted = read(TOKEN, body);
      if (findUserByEmail(wanted.email) === null) throw new Refused('There is no such user.');
      return { accessToken: control.token(wanted) };
    },
  };

  return async (request, path) => {
    const line = `${request.method} ${path}`;
    const run = controls[line];
    if (run === undefined) return json(404, { error: 'NOT_FOUND', message: `No ${line}` });
    const bytes = await readBody(request);
    if (bytes === null) return json(413, { error: 'PAYLOAD_TOO_LARGE' });
    try {
      return json(200, run(parseJson(bytes)) ?? { ok: true });
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return json(400, { error: 'BAD_INPUT', message: problem.message });
    }
  };
}
