import { NextResponse, type NextRequest } from 'next/server';
import { sessionOf } from './session';

export async function proxy(request: NextRequest) {
  const session = sessionOf(request.headers);
  const lines = await session.refresh().catch(console.error);
  if (!lines) return new NextResponse('Please try again soon.', { status: 503 });
  const headers = new Headers(request.headers);
  headers.set('cookie', session.cookie); // so that the components of the page use the new cookies
  const response = NextResponse.next({ request: { headers } });
  for (const line of lines) response.headers.append('Set-Cookie', line);
  if (lines.length > 0) response.headers.set('Cache-Control', 'private, no-store'); // a shared cache must not store them
  return response;
}

export const config = { matcher: '/((?!_next|api).*)' };
