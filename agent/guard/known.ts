/** Names of programs, for reading a chain of ancestors. Lower case, without `.exe`. */

/** Agents that can run commands: one of these among the ancestors means that nobody may be typing. */
export const AGENT_NAMES: readonly string[] = [
  'claude',
  'claude-code',
  'codex',
  'opencode',
  'gemini',
  'gemini-cli',
  'copilot',
  'copilot-cli',
  'github-copilot-cli',
  'cursor-agent',
]

/** Where agents live on disk, whatever the file itself is called (`…/claude/versions/2.1.332`, npm's package folders). */
export const AGENT_PATHS =
  /\/(claude\/versions|@anthropic-ai\/claude-code|@openai\/codex|@google\/gemini-cli|@github\/copilot|opencode-ai|cursor-agent)(\/|$)/

/** Programs that run a script, whose name then says who it is. */
export const INTERPRETERS: readonly string[] = [
  'node',
  'nodejs',
  'bun',
  'deno',
  'python',
  'python3',
  'npx',
  'npm',
  'tsx',
]

/**
 * Programs that a person types into. An editor's terminal (VS Code, Cursor, JetBrains) is left out on purpose: its agents
 * type into that same terminal. A multiplexer's server counts as one, although an agent can start it: see judgeChain.
 */
export const TERMINALS: readonly string[] = [
  'alacritty',
  'blackbox',
  'cool-retro-term',
  'deepin-terminal',
  'foot',
  'footclient',
  'gnome-console',
  'gnome-terminal',
  'gnome-terminal-',
  'gnome-terminal-server',
  'ghostty',
  'guake',
  'hyper',
  'iterm2',
  'itermserver',
  'kgx',
  'kitty',
  'konsole',
  'lxterminal',
  'mate-terminal',
  'mintty',
  'ptyxis',
  'ptyxis-agent',
  'qterminal',
  'rio',
  'rxvt',
  'st',
  'tabby',
  'terminal',
  'terminator',
  'terminology',
  'tilda',
  'tilix',
  'urxvt',
  'urxvtd',
  'warp',
  'warp-terminal',
  'wezterm',
  'wezterm-gui',
  'windowsterminal',
  'xfce4-terminal',
  'xterm',
  'yakuake',
  'screen',
  'tmux',
  'tmux: server',
  'zellij',
]

/** Programs that let a person in. */
export const LOGINS: readonly string[] = ['login', 'sshd', 'sshd-session', 'mosh-server', 'getty', 'agetty']

export const SHELLS: readonly string[] = [
  'sh',
  'bash',
  'dash',
  'zsh',
  'fish',
  'ksh',
  'mksh',
  'tcsh',
  'csh',
  'nu',
  'elvish',
  'xonsh',
  'pwsh',
  'ash',
  'busybox',
]
