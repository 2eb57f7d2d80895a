// Measures what authentication adds to a message over NATS, RabbitMQ and Redis: npm run messages.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'production';

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'bench/src/messages.ts'));
