/** Parts of names of variables that hold what nobody may learn even a part of. */
const SECRET = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE|DSN/i

/** Whether `NAME=pattern` asks about a secret: it then holds nowhere, for its answer would be a part of it. */
export const asksForSecret = (text: string): boolean => SECRET.test(text.slice(0, Math.max(0, text.indexOf('='))))
