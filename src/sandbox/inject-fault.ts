import type { ServerResponse } from 'node:http';
import type { Fault } from './faults.ts';
import { type Reply, reset, respond } from './http.ts';

interface Injection {
  readonly fault: Fault;
  readonly response: ServerResponse;
  /** Carries the operation out. */
  readonly apply: () => Promise<Reply>;
  /** Refuses in the format of the operation. */
  readonly refuse: (status: number) => Reply;
  /** Resolves to false if the sandbox closes meanwhile. */
  readonly wait: (ms: number) => Promise<boolean>;
}

const GARBAGE = '{"success": tru\u0000e, ]]';

/** Answers a call with the fault. */
export async function injectFault(injection: Injection): Promise<void> {
  const { fault, response, apply, wait } = injection;
  const { kind, delayMs = 0, headers } = fault;
  if (delayMs > 0 && !(await wait(delayMs))) return;
  switch (kind) {
    case 'status':
      return respond(response, statusReply(injection));
    case 'reset-before':
      return reset(response);
    case 'reset-after':
      await apply();
      return reset(response);
    case 'garbage': {
      const { status } = await apply();
      return respond(response, { status, body: GARBAGE, headers: { ...headers } });
    }
    case 'delay': {
      const reply = await apply();
      return respond(response, { ...reply, headers: { ...reply.headers, ...headers } });
    }
  }
}

function statusReply({ fault, refuse }: Injection): Reply {
  const { status = 500, body, headers = {} } = fault;
  if (body === undefined) return { ...refuse(status), headers };
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body), headers };
}
