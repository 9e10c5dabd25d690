import { type Answer, jsonOf } from '../gateway/exchange.ts';
import { codeOf, isSuccess } from '../gateway/judge.ts';
import { reasonOf } from '../lib/reason-of.ts';
import type { Probed } from './probe.ts';
import type { Finding } from './report.ts';

type Fault = Pick<Finding, 'text' | 'setting'>;

/** Explains why an operation failed, and names the setting to look at. */
export function faultOf({ recorded, error }: Probed<unknown>): Fault {
  const exchange = recorded.at(-1)?.exchange;
  if (exchange === undefined) return { text: `Nothing was sent: ${reasonOf(error)}.` };
  if (!exchange.sent) {
    const { cause } = exchange;
    const text = `The gateway cannot be reached: ${codeOf(cause) ?? reasonOf(cause)}.`;
    return { text, setting: 'GATEWAY_URL' };
  }
  if (!exchange.answered) {
    const { reason, cause } = exchange;
    const code = codeOf(cause);
    return { text: `There is no usable answer: ${reason}${code === null ? '' : ` (${code})`}.` };
  }
  if (!isSuccess(exchange.status)) return faultOfStatus(exchange);
  const text =
    jsonOf(exchange) === undefined
      ? `The answer is not JSON (Content-Type ${exchange.headers['content-type'] ?? 'missing'}).`
      : `The answer cannot be used (GATEWAY_CONTRACT): ${reasonOf(error)}.`;
  return { text };
}

function faultOfStatus(answer: Answer): Fault {
  const { status, headers } = answer;
  const type = headers['content-type']?.split(';', 1)[0] ?? 'no Content-Type';
  return { text: `Status ${status}, ${type}.`, setting: settingFor(answer) };
}

function settingFor({ status, headers }: Answer): Finding['setting'] {
  // A proxy in front of the gateway asks for a user and a password.
  if (/^\s*basic\b/i.test(headers['www-authenticate'] ?? '')) return 'GATEWAY_HEADERS';
  if (status === 401) return 'CHECK_TOKEN';
  const isWrongPlace = status === 404 || status === 405 || (status >= 300 && status <= 399);
  return isWrongPlace ? 'GATEWAY_URL' : undefined;
}
