// Runs the gates of a port over lists that are set one after the other, with a frame at the head of every class.
//
// Usage: harness SCRIPT OUT. SCRIPT is an array of 64-bit words of this machine: {lists, cycles, time of the first cycle,
// rate in 2**-24 ns a cycle, AdminGateStates, frames, seed of the moments at which frames are asked for}; per list {the cycle after which it is set, entries, base time,
// cycle time, extension}, and per entry of it {operation, states, interval}; per frame {cycle, class, octets}, in the order of cycles.
// OUT: per list {time at which the sequencer took it, whether with ConfigChangeError, ConfigChangeTime}; then per cycle
// {time, open gates, classes whose frame fits, hold, late}, of which the outputs are those two cycles later.

#include <cstdint>
#include <fstream>
#include <memory>
#include <vector>

#include "Vgate_control.h"
#include "verilated.h"

using Words = std::vector<uint64_t>;
constexpr int CLASSES = 8;

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::ifstream file(argv[1], std::ios::binary | std::ios::ate);
    Words in(static_cast<size_t>(file.tellg()) / 8);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(in.data()), static_cast<std::streamsize>(in.size() * 8));
    const uint64_t lists = in[0], cycles = in[1], rate = in[3], frames = in[5];
    const uint64_t* list = &in[7];
    const uint64_t* frame = list;
    for (uint64_t k = 0; k < lists; k++) frame += 5 + 3 * frame[1];
    const uint64_t* const frames_end = frame + 3 * frames;

    auto context = std::make_unique<VerilatedContext>();
    auto dut = std::make_unique<Vgate_control>(context.get());
    unsigned __int128 time = (unsigned __int128)in[2] << 24;
    auto edge = [&] {
        dut->clk_i = 1;
        dut->eval();
        time += rate;
        dut->now_i = (uint64_t)(time >> 24);
        dut->clk_i = 0;
        dut->eval();
    };
    dut->now_i = in[2];
    dut->admin_gate_states_i = (uint8_t)in[4];
    dut->rst_ni = 0;
    for (int k = 0; k < 4; k++) edge();
    dut->rst_ni = 1;
    for (int k = 0; k < 4; k++) edge();
    dut->enable_i = 1;

    Words found, trace;
    std::vector<uint64_t> octets(CLASSES, 60);
    uint64_t entry = 0, asked = 0, skipped = 0, dice = in[6] | 1;
    bool written = false;
    for (uint64_t cycle = 0; cycle < cycles; cycle++) {
        dut->write_i = 0;
        dut->change_i = 0;
        dut->eval();
        if (!written && found.size() < 3 * lists && dut->ready_o && cycle >= list[0]) {
            const uint64_t* row = list + 5 + 3 * entry;
            if (entry < list[1]) {
                dut->write_i = 1;
                dut->write_entry_i = (uint32_t)entry++;
                dut->write_operation_i = (uint8_t)row[0];
                dut->write_states_i = (uint8_t)row[1];
                dut->write_interval_i = (uint32_t)row[2];
            } else {
                dut->change_i = 1;
                dut->last_entry_i = (uint32_t)(list[1] - 1);
                dut->base_time_i = list[2];
                dut->cycle_time_i = (uint32_t)list[3];
                dut->extension_i = (uint32_t)list[4];
                written = true;
                entry = 0;
            }
            dut->eval();
        }
        // Every class is asked for in turn, now and then later; what it has at its head is taken a cycle after.
        while (frame < frames_end && frame[0] <= cycle) {
            octets[frame[1]] = frame[2];
            frame += 3;
        }
        dut->take_i = (uint8_t)asked;
        dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
        const uint64_t next = cycle % CLASSES;
        asked = 1ull << next;
        // Not taken this time, but the next time.
        if (dice % 4 == 0 && !(skipped & asked)) {
            skipped |= asked;
            asked = 0;
        } else {
            skipped &= ~asked;
        }
        dut->ask_class_i = (uint8_t)next;
        dut->ask_octets_i = (uint16_t)octets[next];
        dut->eval();
        if (dut->set_o) {
            found.insert(found.end(), {dut->set_time_o, dut->error_o, dut->change_time_o});
            list += 5 + 3 * list[1];
            written = false;
        }
        trace.insert(trace.end(), {dut->now_i, dut->open_o, dut->fits_o, dut->hold_o, dut->late_o});
        edge();
    }
    found.resize(3 * lists, ~0ull);
    std::ofstream out(argv[2], std::ios::binary);
    out.write(reinterpret_cast<const char*>(found.data()), static_cast<std::streamsize>(found.size() * 8));
    out.write(reinterpret_cast<const char*>(trace.data()), static_cast<std::streamsize>(trace.size() * 8));
    return 0;
}
