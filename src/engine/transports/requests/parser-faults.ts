import type { Socket } from 'node:net';

/** The reasons for which Node's parser answers by itself and closes a connection: with 431, 400 and 408. */
export const PARSER_FAULTS = ['head', 'syntax', 'stalled'] as const;

/** Why Node closed a connection before there was a request; null where it did not. */
export function parserFaultOf({ errored, bytesRead }: Socket) {
  const code = errored !== null && 'code' in errored ? String(errored.code) : '';
  if (code === 'HPE_HEADER_OVERFLOW') return 'head';
  // The client itself has ended it in the middle of a request, as phones do.
  if (code === 'HPE_INVALID_EOF_STATE') return null;
  if (code.startsWith('HPE_')) return 'syntax';
  // Browsers open connections that they may never use.
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && bytesRead > 0 ? 'stalled' : null;
}
