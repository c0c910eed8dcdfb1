// Runs the queues and the selection of a port over given frames, with a line of its own.
//
// Usage: harness SCRIPT OUT. SCRIPT is an array of 64-bit words of this machine: {frames, cycles, states of the gates,
// shaped classes}, per class {idleSlope}, per state of the gates {the cycle of its begin, the first one 0; gates}, per
// frame {cycle, class, lane, octets without check sequence}, all in the order of cycles. OUT: per frame {cycle in which it was enqueued, or none}, then per cycle {start + 1 of a frame's class or
// 0, its octets, whether the line is busy}, credits of all classes.

#include <cstdint>
#include <fstream>
#include <memory>
#include <vector>

#include "Vegress_port.h"
#include "verilated.h"

using Words = std::vector<uint64_t>;
constexpr int CLASSES = 8;

static void set_bits(uint32_t* words, unsigned low, unsigned width, uint64_t value) {
    for (unsigned k = 0; k < width; k++) {
        const unsigned bit = low + k;
        words[bit / 32] = (words[bit / 32] & ~(1u << (bit % 32))) | (uint32_t)((value >> k) & 1) << (bit % 32);
    }
}

static uint64_t get_bits(const uint32_t* words, unsigned low, unsigned width) {
    uint64_t value = 0;
    for (unsigned k = 0; k < width; k++) value |= (uint64_t)(words[(low + k) / 32] >> ((low + k) % 32) & 1) << k;
    return value;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::ifstream file(argv[1], std::ios::binary | std::ios::ate);
    Words in(static_cast<size_t>(file.tellg()) / 8);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(in.data()), static_cast<std::streamsize>(in.size() * 8));
    const uint64_t frames = in[0], cycles = in[1], states = in[2];
    const uint64_t* slopes = &in[4];
    const uint64_t* gates = slopes + CLASSES;
    const uint64_t* rows = gates + 2 * states;

    auto context = std::make_unique<VerilatedContext>();
    auto dut = std::make_unique<Vegress_port>(context.get());
    auto edge = [&] {
        dut->clk_i = 1;
        dut->eval();
        dut->clk_i = 0;
        dut->eval();
    };
    dut->gate_open_i = (uint8_t)gates[1];
    dut->credit_based_i = (uint8_t)in[3];
    for (int c = 0; c < CLASSES; c++) set_bits(dut->idle_slope_i.data(), 30 * c, 30, slopes[c]);
    dut->rst_ni = 0;
    for (int k = 0; k < 4; k++) edge();
    dut->rst_ni = 1;

    Words enqueued(frames, ~0ull), trace;
    uint64_t next = 0, busy = 0, state = 0;
    for (uint64_t now = 0; now < cycles; now++) {
        dut->now_i = now;
        while (state < states && gates[2 * state] <= now) dut->gate_open_i = (uint8_t)gates[2 * state++ + 1];
        dut->line_last_i = busy == 1;
        // A start may come in the next cycle.
        dut->line_ready_i = busy <= 2;
        const uint64_t* row = rows + 4 * next;
        const bool due = next < frames && row[0] <= now;
        if (due) {
            dut->enqueue_class_i = (uint8_t)row[1];
            dut->enqueue_lane_i = (uint8_t)row[2];
            dut->room_class_i = (uint8_t)row[1];
            dut->room_lane_i = (uint8_t)row[2];
            dut->enqueue_octets_i = (uint16_t)row[3];
            dut->enqueue_eligible_i = now;
        }
        dut->enqueue_valid_i = 0;
        dut->eval();
        if (due) {
            dut->enqueue_valid_i = dut->room_o;
            if (dut->room_o) enqueued[next] = now;
            next++;
            dut->eval();
        }
        trace.insert(trace.end(), {dut->start_o ? dut->start_class_o + 1ull : 0, dut->start_octets_o, busy > 0});
        for (int c = 0; c < CLASSES; c++) trace.push_back(get_bits(dut->credit_o.data(), 48 * c, 48));
        // Preamble, frame, check sequence, gap: from the cycle after the start.
        if (busy > 0) busy--;
        if (dut->start_o) busy = 8 + dut->start_octets_o + 4 + 12;
        edge();
    }
    std::ofstream out(argv[2], std::ios::binary);
    out.write(reinterpret_cast<const char*>(enqueued.data()), static_cast<std::streamsize>(enqueued.size() * 8));
    out.write(reinterpret_cast<const char*>(trace.data()), static_cast<std::streamsize>(trace.size() * 8));
    return 0;
}
