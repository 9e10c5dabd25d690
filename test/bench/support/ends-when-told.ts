/** A program that does nothing, until a message tells it to end. */
setInterval(() => {}, 60_000);
process.on('message', ({ end }: { end?: boolean }) => {
  if (!end) return;
  process.stdout.write('told to end', () => process.exit(1));
});
