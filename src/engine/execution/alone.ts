/** A copy of a slice: a small one would keep alive the whole block of Node's pool, or of a read, in which it lies. */
export function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
