import type { Exchange } from './exchange.ts';

const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx', '6xx', '7xx', '8xx', '9xx'];

/** What came of a call on the wire, in a word for operators, whoever judges it how. */
export function outcomeOf(exchange: Exchange): string {
  if (!exchange.sent) return 'not-sent';
  if (!exchange.answered) return exchange.reason;
  return STATUS_CLASSES[Math.floor(exchange.status / 100)] ?? 'odd';
}
