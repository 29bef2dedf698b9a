import { Command } from 'commander';
import { VERSION } from '../lib/version.ts';
import type { Io } from './io.ts';
import type { Verbs } from './options.ts';
import { addDataVerbs, addJudgeVerbs } from './verbs-audit.ts';
import { addDoctorVerbs } from './verbs-doctor.ts';
import { addGradeVerbs, addReportVerbs } from './verbs-results.ts';
import { addRunVerbs, addSetupVerbs } from './verbs-run.ts';

/** The command line. `done` is told the exit code. */
export function buildProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('heams')
    .description(
      'Measures what an agent with memory tells those it should not, and whether it still gets the job done.',
    )
    .version(VERSION, '-V, --version')
    // A verb's options are its own, also where the verb above it has some of the same name.
    .enablePositionalOptions()
    .showHelpAfterError('(heams --help shows what there is)')
    .configureOutput({ writeOut: (text) => io.out(text.trimEnd()), writeErr: (text) => io.note(text.trimEnd()) })
    .exitOverride();
  const verbs: Verbs = {
    io,
    done,
    add: (name, description, parent = program) =>
      parent.command(name).description(description).copyInheritedSettings(program),
    action: (load) => async (options) => done(await (await load())(options, io)),
  };
  addRunVerbs(verbs);
  addReportVerbs(verbs);
  addGradeVerbs(verbs);
  addSetupVerbs(verbs);
  addDoctorVerbs(verbs);
  addDataVerbs(verbs);
  addJudgeVerbs(verbs);
  return program;
}
