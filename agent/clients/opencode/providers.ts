import type { Provider } from '#core/pricing.ts'

/** opencode's names for those who sell. Whoever is none of them resells: at which price the list of the first seller says. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  xai: 'x-ai',
  deepseek: 'deepseek',
  mistral: 'mistral',
  moonshotai: 'moonshotai',
  'moonshotai-cn': 'moonshotai',
  zai: 'zai',
  'zai-coding-plan': 'zai',
  zhipuai: 'zai',
  'zhipuai-coding-plan': 'zai',
  minimax: 'minimax',
  'minimax-cn': 'minimax',
}

/** The seller that opencode's own name of a provider stands for. */
export const providerOf = (id: string): Provider | 'other' => (Object.hasOwn(PROVIDERS, id) ? PROVIDERS[id]! : 'other')
