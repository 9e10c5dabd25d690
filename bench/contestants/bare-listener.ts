// The least that a Node process with a server costs.
import { createServer } from 'node:http';

// Idle connections stay open for as long as ours do.
createServer({ keepAliveTimeout: 65_000 }, (_request, response) => response.end('{}')).listen(
  Number(process.env.PORT),
);
