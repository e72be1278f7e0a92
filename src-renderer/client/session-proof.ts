/**
 * Proves to the server that this page has its session's key, without sending it: key XOR HMAC(SHA-256(key), challenge),
 * as in RFC 5802, section 3. Whoever else listens on the port learns nothing that opens Tutti.
 * @param key 32 bytes in base64url
 * @param challenge the server's text for this one proof
 * @returns 32 bytes in base64url
 */
export async function proofOf(key: string, challenge: string): Promise<string> {
  const { subtle } = crypto;
  const keyBytes = Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  const hash = await subtle.digest('SHA-256', keyBytes);
  const hmac = await subtle.importKey('raw', hash, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const mask = new Uint8Array(await subtle.sign('HMAC', hmac, new TextEncoder().encode(challenge)));
  const proof = String.fromCharCode(...mask.map((byte, index) => byte ^ keyBytes[index]));
  return btoa(proof).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
