// `npm run dev`: Next's development server on the same database and with the same environment as `npm start`.
import { launch } from './launch.mjs'

await launch({ dev: true })
