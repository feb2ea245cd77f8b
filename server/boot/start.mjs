// `npm start`: from a fresh clone to a served address. This file runs in plain Node with nothing installed, and its
// syntax is one that an old Node can read, so that an old Node gets a sentence instead of a syntax error.

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Holdpoint needs Node.js 20.19 or newer; this is ${process.versions.node} (${process.execPath}).`)
  console.error('Install a current Node.js and run `npm start` again.')
  process.exit(1)
}
import('./launch.mjs').then(launcher => launcher.launch())
