/**
 * The `data` of each event of a `text/event-stream`, until it completes.
 *
 * @param {ReadableStream<Uint8Array>} body
 */
export async function* readEventStream(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error('the stream ended before it was complete');
    const text = decoder.decode(value, { stream: true });
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const { name, data } = parseEvent(block);
      if (name === 'complete') return;
      if (name === 'next') yield data;
    }
  }
}

/** @param {string} block */
function parseEvent(block) {
  let name = '';
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    // A blank after the colon is JSON's white space as well.
    else if (line.startsWith('data:')) data += line.slice(5);
  }
  return { name, data };
}
