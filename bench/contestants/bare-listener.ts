// The least that a Node process with a server costs.
import { createServer } from 'node:http';

createServer((_request, response) => response.end('{}')).listen(Number(process.env.PORT));
