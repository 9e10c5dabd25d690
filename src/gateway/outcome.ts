import type { Exchange } from './exchange.ts';

const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx', '6xx', '7xx', '8xx', '9xx'];

/** The outcome of a call on the wire as one word for operators, however it is judged. */
export function outcomeOf(exchange: Exchange): string {
  if (!exchange.sent) return 'not-sent';
  if (!exchange.answered) return exchange.reason;
  return STATUS_CLASSES[Math.floor(exchange.status / 100)] ?? 'odd';
}
