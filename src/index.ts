/**
 * The public library: what a script needs to run a benchmark, read its records and write its reports. Everything else
 * is internal and may change.
 */

export { type CompareOptions, compareRuns } from './benchmarks/contextual-integrity/compare.ts';
export { writeComparison } from './benchmarks/contextual-integrity/compare-write.ts';
export { type Engagement, type EngagementInput, engagementOf } from './benchmarks/contextual-integrity/engagement.ts';
export { checkRun, type GateOptions } from './benchmarks/contextual-integrity/gate.ts';
export { parseLimits, parseMargins } from './benchmarks/contextual-integrity/gate-limits.ts';
export { createCiMetrics } from './benchmarks/contextual-integrity/metrics.ts';
export { flagsOfRecord } from './benchmarks/contextual-integrity/metrics-flags.ts';
export { ciRlAnswer, ciRlScore } from './benchmarks/contextual-integrity/paper-ci-rl.ts';
export type { Annotated, PaperScore } from './benchmarks/contextual-integrity/paper-score.ts';
export { selfCiAnswer, selfCiNormalise, selfCiScore } from './benchmarks/contextual-integrity/paper-selfci.ts';
export { type Parity, parityOf } from './benchmarks/contextual-integrity/parity.ts';
export { writeCiRollupReport } from './benchmarks/contextual-integrity/rollup.ts';
export type { Host } from './config/assemble.ts';
export { type ExecutedRun, type ExecuteOptions, executeRun } from './config/execute-run.ts';
export { loadRun } from './config/load-run.ts';
export { type Overrides, withOverrides } from './config/overrides.ts';
export { builtinRegistry, loadReporters, type Registry } from './config/registry.ts';
export type { Arm, Component, Run } from './config/run.ts';
export type { Agent, AgentMemory, Labels, Task } from './contracts/agent.ts';
export type { Benchmark, GradeInput, LoadedSamples, Sample } from './contracts/benchmark.ts';
export type { CallContext, Clock, Meter } from './contracts/call.ts';
export type { Defence } from './contracts/defence.ts';
export type { MemoryBackend, MemoryCapabilities, MemoryScope } from './contracts/memory.ts';
export {
  BudgetError,
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type EmbeddingModel,
  ModelError,
} from './contracts/model.ts';
export type {
  AgentPlugin,
  BenchmarkPlugin,
  DefencePlugin,
  MemoryPlugin,
  ModelUse,
  PluginBase,
  PluginContext,
  TemplateUse,
} from './contracts/plugin.ts';
export type { RunStore } from './contracts/store.ts';
export { systemClock } from './lib/clock.ts';
export { HeamsError, HeamsErrors } from './lib/errors.ts';
export { seededRandom } from './lib/random.ts';
export { VERSION } from './lib/version.ts';
export { writeExperimentReports } from './report/write-reports.ts';
export { type CiComparison, ciComparisonSchema } from './schema/ci-comparison.ts';
export { type CiDataAudit, ciDataAuditSchema } from './schema/ci-data-audit.ts';
export { type CiGate, ciGateSchema } from './schema/ci-gate.ts';
export { type CiGrade, ciGradeSchema } from './schema/ci-grade.ts';
export { type CiMetrics, ciMetricsSchema } from './schema/ci-metrics.ts';
export { type JudgeAudit, judgeAuditSchema } from './schema/judge-audit.ts';
export { type LabelAgreement, labelAgreementSchema } from './schema/label-agreement.ts';
export {
  type Fact,
  type Recall,
  type Reply,
  recordSchema,
  type SampleRecord,
  type StoredItem,
  type Turn,
} from './schema/record.ts';
export { cohenKappa } from './stats/kappa.ts';
export { type CorrectedShare, type CorrectionInput, roganGladen } from './stats/rogan-gladen.ts';
export { MemoryStore } from './store/memory-store.ts';
export { listExperiments, readRecords } from './store/records.ts';
