/** @param {number} ms */
export function formatMs(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * @param {number} count
 * @param {string} noun
 */
export function formatCount(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** @param {readonly import('./types.d.ts').GatewayCall[]} calls */
export function formatCalls(calls) {
  const from = (/** @type {string} */ name) => calls.filter(({ source }) => source === name).length;
  const others = [`${from('cache')} from cache`, `${from('shared')} shared`];
  const some = others.filter((words) => !words.startsWith('0 '));
  return [formatCount(from('call'), 'gateway call'), ...some].join(', ');
}
