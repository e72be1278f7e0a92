/**
 * The page needs its own scripts, styles and connection, pictures that it makes itself, and nothing else.
 * @param host as the browser asked for it: not every browser takes `'self'` to include its WebSockets
 */
export function securityHeaders(host = ''): Record<string, string> {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': /^[\w.-]+(:\d+)?$/.test(host) ? `'self' ws://${host}` : "'self'",
    'img-src': "'self' data: blob:",
    'font-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  return {
    'Content-Security-Policy': Object.entries(policy)
      .map((directive) => directive.join(' '))
      .join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
}
