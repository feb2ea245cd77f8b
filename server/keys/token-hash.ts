import { createHash } from 'node:crypto'

/** What is stored of a secret that stands for somebody: SHA-256 in base64url. All of them have 256 random bits, so no salt. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')
