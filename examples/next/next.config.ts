import type { NextConfig } from 'next';

const api = process.env['API'] ?? 'http://127.0.0.1:3000';

const config: NextConfig = {
  turbopack: { root: __dirname },
  // No site can show the pages in a frame, in which a user could be made to click on something.
  headers: () =>
    Promise.resolve([
      { source: '/:path*', headers: [{ key: 'Content-Security-Policy', value: "frame-ancestors 'none'" }] },
    ]),
  // The browser's own requests. The sample has no prefix, so it is removed here.
  rewrites: () => Promise.resolve([{ source: '/api/:path*', destination: `${api}/:path*` }]),
};

export default config;
