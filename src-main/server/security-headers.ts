/**
 * Headers that allow the page its own scripts, styles and connection, generated pictures, and nothing else.
 * @param socketOrigin the origin of the WebSockets, because for some browsers `'self'` does not include them
 */
export function securityHeaders(socketOrigin: string | null = null): Record<string, string> {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': socketOrigin === null ? "'self'" : `'self' ${socketOrigin}`,
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
