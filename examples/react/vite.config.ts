import { defineConfig } from 'vite';

const api = process.env['API'] ?? 'http://127.0.0.1:3000';

export default defineConfig({
  // The page and the API have one origin. The sample has no prefix, so it is removed here.
  server: { proxy: { '/api': { target: api, rewrite: (path) => path.slice('/api'.length) } } },
  // No site can show the page in a frame, in which a user could be made to click on something. In production, the server
  // of the page has to send this header.
  preview: {
    port: Number(process.env['PORT'] ?? 4000),
    strictPort: true,
    headers: { 'Content-Security-Policy': "frame-ancestors 'none'" },
  },
});
