// Runs the ATS engine over a file of frames and writes its decisions.
//
// Usage: harness INPUT OUTPUT. Both are arrays of 64-bit words of this machine. Input: a head of
// {schedulers, groups, frames, time at reset, ticks per cycle, most ticks per idle cycle, charged
// overhead, ProcessingDelayMax}; per scheduler {group, octet time,
// EmptyToFullDuration, most octets}; per group {MaxResidenceTime}; per frame {arrival, scheduler,
// octets}, arrivals in ticks after the first frame may come, in order. Output: {cycle at which that
// is}, per frame {eligibility time, flags, cycles from acceptance to decision}, per group the two
// counters. Idle cycles may last longer than others, so that a run reaches the wrap of time.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

#include "Vats_engine.h"
#include "verilated.h"

using Words = std::vector<uint64_t>;

static Words read_words(const char* path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    Words words(static_cast<size_t>(file.tellg()) / 8);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 8));
    return words;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const Words in = read_words(argv[1]);
    const uint64_t schedulers = in[0], groups = in[1], frames = in[2], start = in[3];
    const uint64_t ticks = in[4], idle_ticks_max = in[5];
    const uint64_t* scheduler_rows = &in[8];
    const uint64_t* group_rows = scheduler_rows + 4 * schedulers;
    const uint64_t* frame_rows = group_rows + groups;
    const uint64_t time_mask = (TIME_WIDTH == 64) ? ~0ull : (1ull << TIME_WIDTH) - 1;

    auto context = std::make_unique<VerilatedContext>();
    auto dut = std::make_unique<Vats_engine>(context.get());
    uint64_t now = start;
    auto cycle = [&](uint64_t step) {
        dut->clk_i = 1;
        dut->eval();
        now += step;
        dut->now_i = now & time_mask;
        dut->clk_i = 0;
        dut->eval();
    };

    dut->clk_i = 0;
    dut->rst_ni = 0;
    dut->now_i = now & time_mask;
    dut->charged_overhead_i = in[6];
    dut->processing_delay_max_i = in[7];
    for (int k = 0; k < 4; k++) cycle(ticks);
    dut->rst_ni = 1;
    for (uint64_t k = 0; k < schedulers; k++) {
        dut->scheduler_write_i = 1;
        dut->scheduler_index_i = k;
        dut->scheduler_group_i = scheduler_rows[4 * k];
        dut->scheduler_octet_time_i = scheduler_rows[4 * k + 1];
        dut->scheduler_empty_to_full_i = scheduler_rows[4 * k + 2];
        dut->scheduler_octets_max_i = scheduler_rows[4 * k + 3];
        cycle(ticks);
    }
    dut->scheduler_write_i = 0;
    for (uint64_t k = 0; k < groups; k++) {
        dut->group_write_i = 1;
        dut->group_index_i = k;
        dut->group_residence_max_i = group_rows[k];
        cycle(ticks);
    }
    dut->group_write_i = 0;
    while (!dut->frame_ready_o) cycle(ticks);

    const uint64_t epoch = now;
    Words out = {epoch};
    std::vector<uint64_t> accepted(frames);
    uint64_t cycles = 0, next = 0, decided = 0, quiet = 0;
    while (decided < frames) {
        const bool offers = next < frames && now - epoch >= frame_rows[3 * next];
        dut->frame_valid_i = offers;
        if (offers) {
            dut->frame_scheduler_i = frame_rows[3 * next + 1];
            dut->frame_octets_i = frame_rows[3 * next + 2];
            dut->frame_arrival_i = (epoch + frame_rows[3 * next]) & time_mask;
            dut->frame_tag_i = next & 0xffff;
        }
        dut->eval();
        if (offers && dut->frame_ready_o) accepted[next++] = cycles;
        uint64_t step = ticks;
        quiet = offers || decided < next ? 0 : quiet + 1;
        if (quiet > 16 && next < frames) {
            const uint64_t left = frame_rows[3 * next] - (now - epoch);
            const uint64_t most = left < idle_ticks_max ? left : idle_ticks_max;
            if (most > ticks) step = most - most % ticks;
        }
        cycle(step);
        cycles++;
        if (dut->decision_valid_o) {
            if (dut->decision_tag_o != (decided & 0xffff)) {
                std::fprintf(stderr, "frame %llu: out of order\n", (unsigned long long)decided);
                return 1;
            }
            out.push_back(dut->decision_eligible_o);
            out.push_back(dut->decision_exceeds_burst_o | dut->decision_exceeds_residence_o << 1);
            out.push_back(cycles - accepted[decided]);
            decided++;
        }
        if (cycles > 400 * frames + 10000000) {
            std::fprintf(stderr, "stuck: %llu of %llu frames decided\n", (unsigned long long)decided,
                         (unsigned long long)frames);
            return 1;
        }
    }
    dut->frame_valid_i = 0;
    for (uint64_t k = 0; k < groups; k++) {
        dut->count_index_i = k;
        cycle(ticks);
        cycle(ticks);
        out.push_back(dut->count_exceeds_burst_o);
        out.push_back(dut->count_exceeds_residence_o);
    }
    std::printf("%llu cycles\n", (unsigned long long)cycles);
    std::ofstream file(argv[2], std::ios::binary);
    file.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * 8));
    return file.good() ? 0 : 1;
}
