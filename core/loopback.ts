/** Whether a host is this very machine, by the names and addresses that nothing else can have. */
export const isLoopbackHost = (host: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(host)

/** Whether a secret may be sent to an address: over https, or over plain http that does not leave this machine. */
export const mayCarrySecrets = ({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
