/**
 * The payload of a document that this control plane signed, or verified, before it stored it: read without asking the
 * signature again. Never for anything that has just come in.
 */
export const storedPayload = <T>(jws: string): T =>
  JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString('utf8')) as T
